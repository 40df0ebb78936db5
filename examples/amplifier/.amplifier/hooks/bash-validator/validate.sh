#!/bin/sh
# Blocks shell commands that destroy a machine: exit 2 blocks, and standard error says why.
# Under Amplifier's rules any other failure lets the command go on, so what cannot be looked at is blocked here.
set -uf

block() {
    echo '{"decision": "block", "systemMessage": "Security: a dangerous command was blocked"}'
    echo "bash-validator: blocked: $1" >&2
    exit 2
}

command=$("$HOOK" get .tool_input.command) || block "the call has no command that could be looked at"

squeezed=$(printf '%s' "$command" | tr -d ' \t\n')
case $squeezed in
    *':(){:|:&};:'*) block "this is a fork bomb" ;;
esac

# The words of the line, whatever stands between them.
words=$(printf '%s' "$command" | tr '\t\n;&|()`"'\' ' ' | tr -s ' ')
case " $words " in
    *' rm -rf / '* | *' rm -fr / '* | *' rm -rf /* '* | *' rm -fr /* '*)
        block "rm -rf / removes everything; name the directory you mean"
        ;;
    *' dd if='*) block "dd copies raw data over disks" ;;
    *' mkfs '* | *' mkfs.'* | *'/mkfs '* | *'/mkfs.'*) block "mkfs formats a disk" ;;
esac
exit 0
