#!/bin/sh
# Keeps an agent's hands off secrets and system files.
path=$("$HOOK" get .tool_input.file_path --default '') || exit 1

case $path in
  /etc/* | /usr/* | /bin/* | /boot/*) echo "system files are not edited here: $path" >&2; exit 2 ;;
  *.pem | *.key | */.ssh/* | *id_rsa*) echo "keys are not edited here: $path" >&2; exit 2 ;;
esac
case ${path##*/} in
  .env | .env.*) echo "environment files hold secrets: $path" >&2; exit 2 ;;
esac
