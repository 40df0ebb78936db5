#!/bin/sh
# Tells the model where it is. Plain text becomes context on the events this hook listens to.
set -u

echo "Project: ${HOOK_PROJECT_DIR##*/}"
if branch=$(git -C "$HOOK_PROJECT_DIR" symbolic-ref --quiet --short HEAD 2>/dev/null); then
    echo "Branch: $branch"
fi
echo "Today: $(date +%Y-%m-%d)"
