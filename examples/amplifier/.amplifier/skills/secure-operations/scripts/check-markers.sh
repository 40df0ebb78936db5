#!/bin/sh
# Tells the model of conflict markers in a file that it has just written.
set -uf

path=$("$HOOK" get .tool_input.file_path .tool_input.path --default '') || exit 1
case $path in
    '') exit 0 ;;
    /*) ;;
    *) path=$AMPLIFIER_PROJECT_DIR/$path ;;
esac
[ -f "$path" ] || exit 0
line=$(grep -n -m 1 '^<<<<<<< ' "$path") || exit 0
printf '{"contextInjection": "Line %s of the file holds a conflict marker; resolve it."}\n' "${line%%:*}"
