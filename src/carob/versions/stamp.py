"""The version in a golden file, changed without touching another byte."""

from __future__ import annotations

import re

import msgspec

from carob.schema import Json

_TEXT = rb'"(?:[^"\\]|\\.)*"'
_VERSION = re.compile(rb'"version"\s*:\s*(' + _TEXT + rb")")
_NAME = re.compile(rb'(\s*)"name"\s*:\s*' + _TEXT)
_TRIED = 20
"""Places that may be the version; beyond these the file is written anew."""


def stamp(data: bytes, version: str) -> bytes | None:
    """The JSON document with another version; `None` where that takes more than one edit."""
    try:
        document: Json = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(document, dict):
        return None
    wanted = {**document, "version": version}
    pattern = _VERSION if "version" in document else _NAME
    for _, match in zip(range(_TRIED), pattern.finditer(data), strict=False):
        edited = _edited(data, match, version.encode())
        if msgspec.json.decode(edited) == wanted:
            return edited
    return None


def _edited(data: bytes, match: re.Match[bytes], version: bytes) -> bytes:
    if match.re is _VERSION:
        return data[: match.start(1)] + b'"' + version + b'"' + data[match.end(1) :]
    member = b"," + match[1] + b'"version": "' + version + b'"'
    return data[: match.end()] + member + data[match.end() :]
