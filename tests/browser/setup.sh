#!/bin/sh
# Installs the browser that the tests of pages drive, and a small font for Chinese, Japanese and
# Korean, if there are none.
set -eu
fonts() {
    # Without it the same tests pass, but the screenshots show boxes.
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null && ! fc-list :lang=ja 2>/dev/null | grep -q .; then
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            fonts-droid-fallback >/dev/null 2>&1 || true
    fi
}
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
        fonts
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
fonts
