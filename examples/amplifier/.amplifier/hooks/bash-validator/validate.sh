#!/bin/sh
# Blocks shell commands that destroy a machine: exit 2 blocks, and standard error says why.
# Under Amplifier's rules any other failure lets the command go on, so what cannot be looked at is blocked here.
set -uf

block() {
    echo "bash-validator: blocked: $1" >&2
    exit 2
}

command=$("$HOOK" get .tool_input.command) || block "the call has no command that could be looked at"
squeezed=$(printf '%s' "$command" | tr -d ' \t\n')

case $squeezed in
    *':(){:|:&};:'*) block "this is a fork bomb" ;;
esac
case " $command " in
    *' rm -rf / '* | *' rm -fr / '* | *' rm -rf /* '*) block "rm -rf / removes everything; name the directory you mean" ;;
    *' dd if='*) block "dd copies raw data over disks" ;;
    *' mkfs '* | *' mkfs.'*) block "mkfs formats a disk" ;;
esac
exit 0
