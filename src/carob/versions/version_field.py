"""Set the version in a golden file without changing any other byte."""

from __future__ import annotations

import re

import msgspec

from carob.schema import Json

_TEXT = rb'"(?:[^"\\]|\\.)*"'
_VERSION = re.compile(rb'"version"\s*:\s*(' + _TEXT + rb")")
_NAME = re.compile(rb'(\s*)"name"\s*:\s*' + _TEXT)
_MAX_CANDIDATES = 20
"""Matches that may be the version field; beyond these the whole file is rewritten."""


def set_version(data: bytes, version: str) -> bytes | None:
    """Set the version of a JSON document; `None` if that takes more than one edit."""
    try:
        document: Json = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    expected = {**document, "version": version}
    pattern = _VERSION if "version" in document else _NAME
    # `"version"` may also occur in a case or inside a text, so an edit counts only if the parsed
    # document then differs in the version alone.
    for _, match in zip(range(_MAX_CANDIDATES), pattern.finditer(data), strict=False):
        edited = _replace_version(data, match, version.encode())
        if msgspec.json.decode(edited) == expected:
            return edited
    return None


def _replace_version(data: bytes, match: re.Match[bytes], version: bytes) -> bytes:
    if match.re is _VERSION:
        return data[: match.start(1)] + b'"' + version + b'"' + data[match.end(1) :]
    space = match[1] or (b" " if b": " in match[0] else b"")
    member = b"," + space + b'"version": "' + version + b'"'
    return data[: match.end()] + member + data[match.end() :]
