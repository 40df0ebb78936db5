#!/bin/sh
# Tells the model what is wrong with a file that it has just written. A checker that is not installed counts as a pass.
set -uf

path=$("$HOOK" get .tool_input.file_path .tool_input.path --default '') || exit 1
case $path in
    '') exit 0 ;;
    /*) ;;
    *) path=$AMPLIFIER_PROJECT_DIR/$path ;;
esac
[ -f "$path" ] || exit 0

found=$(
    exec 2>&1
    case $path in
        *.sh) sh -n "$path" ;;
        *.json)
            "$HOOK" get . <"$path" >/dev/null
            # 1 is what it says of a lone null, which is fine.
            [ $? -ne 65 ]
            ;;
        *.py) ! command -v ruff >/dev/null || ruff check --quiet --output-format concise "$path" ;;
        *.js | *.ts) ! command -v eslint >/dev/null || eslint "$path" ;;
    esac
) && exit 0

# Findings have quotes, backslashes and several lines; all of them have to be one JSON string.
tab=$(printf '\t')
text=$(
    printf '%s\n' "$found" | head -n 50 | LC_ALL=C tr -d '\000-\010\013-\037\177' |
        sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e "s/$tab/\\\\t/g" | awk '{ printf "%s%s", sep, $0; sep = "\\n" }'
)
printf '{"contextInjection": "%s", "systemMessage": "the linter found something to mend"}\n' "$text"
