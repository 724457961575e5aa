#!/bin/sh
# Installs the PostgreSQL server that the tests start, if there is none.
set -eu
if command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo 'error: the tests of the store need a PostgreSQL server' >&2
    echo >&2
    echo 'hint: install it, on Debian with: apt-get install -y postgresql' >&2
    exit 2
fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq postgresql >/dev/null
