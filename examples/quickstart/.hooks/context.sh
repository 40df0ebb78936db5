#!/bin/sh
# Tells the model where it is. Plain text becomes context on this event.
echo "Project: ${HOOK_PROJECT_DIR##*/}"
branch=$(git -C "$HOOK_PROJECT_DIR" symbolic-ref --quiet --short HEAD 2>/dev/null) && echo "Branch: $branch"
exit 0
