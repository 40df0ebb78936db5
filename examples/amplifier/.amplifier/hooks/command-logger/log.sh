#!/bin/sh
# Appends one line to .amplifier/command-log.jsonl. Plugins run in the order of their names, so a command that the validator
# blocked is not here: it never ran.
set -uf

input=$(cat)
# A member as JSON, so that quotes and line breaks in it stay what they are.
field() {
    printf '%s\n' "$input" | "$HOOK" get --json "$@" --default null
}

printf '{"timestamp": %s, "session": %s, "event": %s, "command": %s, "returncode": %s}\n' \
    "$(field .timestamp)" "$(field .session_id)" "$(field .hook_event_name)" "$(field .tool_input.command)" \
    "$(field .tool_result.returncode)" >>"$AMPLIFIER_PROJECT_DIR/.amplifier/command-log.jsonl"
