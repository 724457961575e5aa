"""A file that a user wrote by hand, TOML, JSON or YAML, as plain JSON values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from carob.config.yaml import decode as _yaml
from carob.errors import FormatError, InputError
from carob.schema import Json

Syntax = Literal["toml", "json", "yaml"]
LIMIT = 1 << 20
"""Bytes. A config is written by hand; what is larger is something else."""


class Document(NamedTuple):
    """The content of a file, and what it takes to name a place in it."""

    source: str
    syntax: Syntax
    text: str
    value: dict[str, Json]

    def where(self, place: str) -> str:
        """The file, the line if the key is written only once, and the key with its parents."""
        if not place:
            return self.source
        key = re.escape(re.split(r"\.|\[", place)[-1])
        found = [*re.finditer(rf"(?<![\w-]){key}[\"']?\s*[=:\]]", self.text)]
        line = self.text.count("\n", 0, found[0].start()) + 1 if len(found) == 1 else None
        return f"{self.source} line {line}, {place}" if line else f"{self.source}, {place}"


def read(path: Path) -> Document:
    """Read and decode a file; its syntax is recognised by content."""
    return parse(_text(path), source=str(path))


def parse(text: str, *, source: str) -> Document:
    """Decode a text; its syntax is recognised by content."""
    syntax = _syntax(text)
    try:
        value = _DECODE[syntax](text)
        _check(value, "")
    except ValueError as error:
        raise FormatError(f"not valid {syntax.upper()}: {error}", where=source) from error
    except RecursionError as error:
        raise FormatError("nested too deeply", where=source) from error
    if not isinstance(value, dict):
        raise FormatError(f"expected a table of settings, got {value!r:.60}", where=source)
    return Document(source, syntax, text, value)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise InputError("not a file" if path.exists() else "no such file", where=str(path))
        with path.open("rb") as file:
            data = file.read(LIMIT + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(path)) from error
    if len(data) > LIMIT:
        raise InputError(f"larger than {LIMIT >> 20} MB, too large for a config", where=str(path))
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text: {error}", where=str(path)) from error


_ASSIGNED = re.compile(r"""\[|("[^"]*"|'[^']*'|[\w.-]+)(\s*\.\s*("[^"]*"|[\w-]+))*\s*=""")


def _syntax(text: str) -> Syntax:
    """By the first line that says something."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith("{"):
        return "json"
    return "toml" if not first or _ASSIGNED.match(first) else "yaml"


def _json(text: str) -> Json:
    import json  # late, as every syntax: a run without a config must not wait for them

    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} (at line {error.lineno}, column {error.colno})") from error


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for key, value in pairs:
        if key in made:
            raise ValueError(f"the key {key!r} is there twice")
        made[key] = value
    return made


def _toml(text: str) -> Json:
    import tomllib

    return tomllib.loads(text)


_DECODE: dict[Syntax, Callable[[str], Json]] = {"toml": _toml, "json": _json, "yaml": _yaml}


def _check(value: object, place: str) -> None:
    """TOML and YAML have dates and more that JSON has not."""
    if isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType] - decoded text
            _check(item, f"{place}.{key}".lstrip("."))  # pyright: ignore[reportUnknownArgumentType] - decoded text
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - decoded text
            _check(item, f"{place}[{index}]")  # pyright: ignore[reportUnknownArgumentType] - decoded text
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{place}: {value} is not a number")
    elif not isinstance(value, str | int | float | None):
        raise ValueError(f"{place}: {value} is a {type(value).__name__}; quote it to make it text")
