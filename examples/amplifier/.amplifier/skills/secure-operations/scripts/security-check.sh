#!/bin/sh
# Refuses commands that take more rights, or that run what they download.
set -uf

block() {
    echo "secure-operations: blocked: $1" >&2
    exit 2
}

command=$("$HOOK" get .tool_input.command) || block "the call has no command that could be looked at"
case " $(printf '%s' "$command" | tr '\t\n;&|()`"'\' ' ' | tr -s ' ') " in
    *' sudo '* | *' su '* | *' doas '*) block "it takes more rights; ask a person" ;;
    *' curl '*' sh '* | *' wget '*' sh '* | *' curl '*' bash '* | *' wget '*' bash '*)
        block "it runs what it downloads; download it, read it, then run it"
        ;;
esac
exit 0
