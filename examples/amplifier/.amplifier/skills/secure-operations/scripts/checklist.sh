#!/bin/sh
# Once per session: what to think of before the first command.
echo '{"contextInjection": "Before each command: what will it change, and how is that undone?"}'
