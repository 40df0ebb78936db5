#!/bin/sh
# Tidies a file that was just written: no blanks at line ends in text, rustfmt for Rust where it is installed. In Markdown two
# blanks at the end of a line are a line break; they stay.
set -uf

path=$("$HOOK" get .tool_input.file_path --default '') || exit 1

# Only ordinary files of this project, and never what a link leads to.
case $path in
    ../* | */../*) exit 0 ;;
    "$HOOK_PROJECT_DIR"/*) ;;
    /*) exit 0 ;;
    *) path=$HOOK_PROJECT_DIR/$path ;;
esac
if [ ! -f "$path" ] || [ -h "$path" ]; then
    exit 0
fi

tidy=$(mktemp) || exit 1
trap 'rm -f "$tidy"' EXIT
case $path in
    *.txt) sed 's/[[:blank:]]*$//' "$path" >"$tidy" || exit 1 ;;
    *.md) sed 's/^[[:blank:]]*$//; s/\([^[:blank:]]\)[[:blank:]]$/\1/' "$path" >"$tidy" || exit 1 ;;
    *.rs)
        command -v rustfmt >/dev/null || exit 0
        rustfmt --edition 2024 --emit stdout --quiet <"$path" >"$tidy" || exit 1
        ;;
    *) exit 0 ;;
esac
if ! cmp -s "$tidy" "$path"; then
    # Written in place, so that owner and mode stay.
    cat "$tidy" >"$path" || exit 1
    echo '{"context": "the formatter changed the file; read it again before you edit it"}'
fi
