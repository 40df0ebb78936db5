#!/bin/sh
# Formats a file that was just written: black, prettier, gofmt or rustfmt where they are installed, and text without any of them.
# It only tells the user: an answer that acts, such as an injection, would end the run before the linter has looked.
set -uf

path=$("$HOOK" get .tool_input.file_path .tool_input.path --default '') || exit 1

# Only ordinary files of this project, and never what a link leads to.
case $path in
    ../* | */../*) exit 0 ;;
    "$AMPLIFIER_PROJECT_DIR"/*) ;;
    /*) exit 0 ;;
    *) path=$AMPLIFIER_PROJECT_DIR/$path ;;
esac
if [ ! -f "$path" ] || [ -h "$path" ]; then
    exit 0
fi

# Runs a formatter that reads standard input; one that is not installed leaves the text as it is.
through() {
    if command -v "$1" >/dev/null; then
        "$@" <"$path" >"$tidy" 2>/dev/null || exit 0
    else
        exit 0
    fi
}

tidy=$(mktemp) || exit 1
trap 'rm -f "$tidy"' EXIT
case $path in
    *.py) through black --quiet - ;;
    *.js | *.jsx | *.ts | *.tsx | *.css | *.html) through prettier --stdin-filepath "$path" ;;
    *.go) through gofmt ;;
    *.rs) through rustfmt --edition 2024 --emit stdout --quiet ;;
    *.txt) sed 's/[[:blank:]]*$//' "$path" >"$tidy" || exit 1 ;;
    *) exit 0 ;;
esac
if ! cmp -s "$tidy" "$path"; then
    # Written in place, so that owner and mode stay.
    cat "$tidy" >"$path" || exit 1
    echo '{"systemMessage": "the formatter tidied the file that was just written"}'
fi
