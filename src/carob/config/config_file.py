"""Read config files in TOML, JSON or YAML as plain JSON values."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from carob.errors import FormatError, InputError
from carob.files.yaml import read_yaml_1_1
from carob.schema import Json

Syntax = Literal["toml", "json", "yaml"]
MAX_BYTES = 1 << 20
"""The largest config. Configs are written by hand, so a larger file is something else."""
_MAX_INTEGER = int(sys.float_info.max)
"""Settings become floats, which end here. TOML, JSON and YAML have integers of any size."""


class ConfigDocument(NamedTuple):
    """The content of a config file, with its text to find line numbers."""

    source: str
    syntax: Syntax
    text: str
    value: dict[str, Json]

    def where(self, path: str) -> str:
        """Return the file, the line if the key occurs only once in it, and the path of the key."""
        if not path:
            return self.source
        key = re.escape(re.split(r"\.|\[", path)[-1])
        matches = [*re.finditer(rf"(?<![\w-]){key}[\"']?\s*[=:\]]", self.text)]
        line = self.text.count("\n", 0, matches[0].start()) + 1 if len(matches) == 1 else None
        return f"{self.source} line {line}, {path}" if line else f"{self.source}, {path}"


def read_document(path: Path) -> ConfigDocument:
    """Read and decode a file. The syntax is detected from the content."""
    return parse_document(_text(path), source=str(path))


def parse_document(text: str, *, source: str) -> ConfigDocument:
    """Decode a text. The syntax is detected from the content."""
    syntax = _syntax(text)
    try:
        value = _DECODE[syntax](text)
        _check_values(value, "")
    except ValueError as error:
        raise FormatError(f"not valid {syntax.upper()}: {error}", where=source) from error
    except RecursionError as error:
        raise FormatError("nested too deeply", where=source) from error
    if not isinstance(value, dict):
        # Without the value: the file may be a link to something that is not a config.
        kind = "nothing" if value is None else f"a {type(value).__name__}"
        raise FormatError(f"expected a table of settings, got {kind}", where=source)
    return ConfigDocument(source, syntax, text, value)


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise InputError("not a file" if path.exists() else "no such file", where=str(path))
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(path)) from error
    if len(data) > MAX_BYTES:
        raise InputError(
            f"larger than {MAX_BYTES >> 20} MB, too large for a config", where=str(path)
        )
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text: {error}", where=str(path)) from error


_ASSIGNED = re.compile(r"""\[|("[^"]*"|'[^']*'|[\w.-]+)(\s*\.\s*("[^"]*"|[\w-]+))*\s*=""")


def _syntax(text: str) -> Syntax:
    """Detect the syntax by the first line that is not blank or a comment."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if first.startswith("{"):
        return "json"
    return "toml" if not first or _ASSIGNED.match(first) else "yaml"


def _json(text: str) -> Json:
    import json  # late, as every syntax: a run without a config needs none

    try:
        return json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} (at line {error.lineno}, column {error.colno})") from error


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    fields: dict[str, Json] = {}
    for key, value in pairs:
        if key in fields:
            raise ValueError(f"duplicate key {key!r}")
        fields[key] = value
    return fields


def _toml(text: str) -> Json:
    import tomllib

    return tomllib.loads(text)


def _check_values(value: object, path: str) -> None:
    """Reject values that JSON does not have, such as the dates of TOML and YAML."""
    if isinstance(value, dict):
        for key, item in value.items():  # pyright: ignore[reportUnknownVariableType] - decoded text
            _check_values(item, f"{path}.{key}".lstrip("."))  # pyright: ignore[reportUnknownArgumentType] - decoded text
    elif isinstance(value, list):
        for index, item in enumerate(value):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - decoded text
            _check_values(item, f"{path}[{index}]")  # pyright: ignore[reportUnknownArgumentType] - decoded text
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path}: {value} is not a finite number")
    elif isinstance(value, int) and abs(value) > _MAX_INTEGER:
        raise ValueError(f"{path}: the number is larger than {_MAX_INTEGER:.2g}")
    elif not isinstance(value, str | int | float | None):
        raise ValueError(f"{path}: {value} is a {type(value).__name__}; quote it to make it text")


def _yaml(text: str) -> Json:
    return read_yaml_1_1(text).value


_DECODE: dict[Syntax, Callable[[str], Json]] = {
    "toml": _toml,
    "json": _json,
    "yaml": _yaml,
}
