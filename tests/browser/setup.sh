#!/bin/sh
# Installs the browser that the tests of pages drive, if there is none.
set -eu
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        exit 0
    fi
done
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo 'error: the tests of pages need Chromium' >&2
    echo >&2
    echo 'hint: install it, on Debian with: apt-get install -y chromium' >&2
    exit 2
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null
