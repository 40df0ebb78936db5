#!/bin/sh
# What is written to the env file is in the environment of every later hook of the session.
set -u

version=unknown
if [ -f "$AMPLIFIER_PROJECT_DIR/VERSION" ]; then
    version=$(head -n 1 "$AMPLIFIER_PROJECT_DIR/VERSION" | LC_ALL=C tr -cd 'A-Za-z0-9._+-')
fi
{
    echo "export PROJECT_VERSION=$version"
    echo "export BUILD_ID=$(date +%s)"
} >>"$AMPLIFIER_ENV_FILE"
printf '{"contextInjection": "This is version %s of the project."}\n' "$version"
