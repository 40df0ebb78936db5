#!/bin/sh
# Keeps secrets and the system's own files from being written.
set -uf

path=$("$HOOK" get .tool_input.file_path .tool_input.notebook_path .tool_input.path) || {
    echo "file-guard: the call names no file that could be looked at" >&2
    exit 1
}

block() {
    echo "file-guard: blocked: $path $1" >&2
    exit 2
}

case $path in
    ../* | */../* | */.. | ..) block "leads through '..'; write the path without it" ;;
esac

case $path in
    /etc/* | /usr/* | /bin/* | /sbin/* | /lib/* | /lib64/* | /boot/* | /dev/* | /proc/* | /sys/* | /System/* | /private/etc/*)
        block "belongs to the system" ;;
    .ssh/* | */.ssh/* | .gnupg/* | */.gnupg/*)
        block "belongs to a person's keys" ;;
esac

case ${path##*/} in
    .env.example | .env.sample | .env.template) ;;
    .env | .env.*) block "holds secrets; a person edits it" ;;
    *.pem | *.key | *.p12 | *.pfx | id_rsa* | id_ed25519* | id_ecdsa*) block "is a key" ;;
esac
exit 0
