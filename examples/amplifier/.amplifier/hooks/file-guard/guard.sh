#!/bin/sh
# Keeps secrets, keys and the system's own files from being written. What cannot be looked at is blocked.
set -uf

block() {
    echo '{"decision": "block", "systemMessage": "Security: a protected file was left as it is"}'
    echo "file-guard: blocked: $1" >&2
    exit 2
}

path=$("$HOOK" get .tool_input.file_path .tool_input.path) || block "the call names no file that could be looked at"

case $path in
    ../* | */../* | */.. | ..) block "$path leads through '..'; write the path without it" ;;
    /etc/* | /usr/* | /bin/* | /sbin/* | /lib/* | /lib64/* | /boot/* | /dev/* | /proc/* | /sys/* | /System/*)
        block "$path belongs to the system"
        ;;
    .ssh/* | */.ssh/* | .gnupg/* | */.gnupg/* | .aws/* | */.aws/*) block "$path belongs to a person's keys" ;;
esac

case ${path##*/} in
    .env.example | .env.sample | .env.template) ;;
    .env | .env.*) block "$path holds secrets; a person edits it" ;;
    *.pem | *.key | *.p12 | *.pfx | id_rsa* | id_ed25519* | id_ecdsa* | credentials | credentials.*) block "$path is a key" ;;
esac
exit 0
