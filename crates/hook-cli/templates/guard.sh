#!/bin/sh
# Blocks shell commands that destroy a machine: exit 2 blocks, and standard error says why.
# Every other failure of this script blocks, too, because hooks.json says "onFailure": "block".
set -uf

command=$("$HOOK" get .tool_input.command) || {
    echo "guard: the call has no command that could be looked at" >&2
    exit 1
}

block() {
    echo "guard: blocked: $1" >&2
    exit 2
}

# A fork bomb, with and without blanks.
squeezed=$(printf '%s' "$command" | tr -d ' \t\n')
case $squeezed in
    *':(){:|:&};:'*) block "this is a fork bomb" ;;
esac

# One simple command, as words.
look() {
    IFS=" 	'\"\\"
    # shellcheck disable=SC2086 # splitting is the point
    set -- $1
    case ${1-} in
        echo | printf | grep | git) return ;;
    esac
    removes='' recursive='' target='' copies=''
    for word in "$@"; do
        case $word in
            rm | */rm) removes=1 ;;
            dd | */dd) copies=1 ;;
            if=*) [ -z "$copies" ] || block "dd copies raw data over disks; name what you want to copy and ask a person" ;;
            mkfs | mkfs.* | */mkfs | */mkfs.*) block "mkfs formats a disk" ;;
            --recursive | -[rR]* | -[!-]*[rR]*) recursive=1 ;;
            / | // | /. | '/*' | '~' | '~/' | '~/*' | '$HOME' | '$HOME/' | '$HOME/*' | '${HOME}' | '${HOME}/' | '${HOME}/*')
                target=$word ;;
        esac
    done
    if [ -n "$removes" ] && [ -n "$recursive" ] && [ -n "$target" ]; then
        block "rm -r $target removes everything; name the directory you mean"
    fi
}

# The parts of the line between separators.
IFS=';&|()`
'
for part in $command; do
    look "$part"
done
exit 0
