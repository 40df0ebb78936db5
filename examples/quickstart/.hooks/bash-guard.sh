#!/bin/sh
# Refuses shell commands that destroy a machine. It needs sh and the hook command, nothing else.
# Exit 2 blocks; the answer document gives the model a reason and the user a message.
command=$("$HOOK" get .tool_input.command --default '') || exit 1

refuse() {
  printf '{"decision": "block", "reason": "dangerous command refused: it contains %s", "systemMessage": "The Bash guard refused a command."}\n' "$1"
  exit 2
}

case $command in
  *'rm -rf /'*) refuse "'rm -rf /'" ;;
  *'dd if='*) refuse "'dd if='" ;;
  *mkfs*) refuse "'mkfs'" ;;
  *':(){ :|:& };:'*) refuse 'a fork bomb' ;;
esac
