#!/bin/sh
# Installs the JavaScript exporters that the tests of the receivers run, if they are missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../../../.exporters
if cmp -s "$here/package-lock.json" "$target/package-lock.json" && [ -d "$target/node_modules" ]; then
    exit 0
fi
if ! command -v npm >/dev/null; then
    echo 'error: the tests of the receivers need Node.js and npm' >&2
    echo >&2
    echo 'hint: install them, on Debian with: apt-get install -y nodejs npm' >&2
    exit 2
fi
mkdir -p "$target"
cp "$here/package.json" "$here/export.mjs" "$target"
cp "$here/package-lock.json" "$target"
npm ci --prefix "$target" --ignore-scripts --no-audit --no-fund --silent
