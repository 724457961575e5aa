"""Decode JSON and YAML; every error names its line and the mistake that people make."""

from __future__ import annotations

import re
from math import isinf
from typing import cast

import msgspec

from carob.errors import InputError
from carob.files.collector import collector_paused
from carob.files.lines import at_line
from carob.files.opening import SAVE_AS_UTF8
from carob.files.yaml import YamlDocument, read_yaml
from carob.schema import Json

_VALUE_LIMIT = 20_000_000
"""A decoded value takes up to forty times the memory of its text."""


def decode(data: bytes, *, where: str, line: int | None = None) -> Json:
    """Decode one JSON value; an error names its line."""
    # Commas are counted before decoding: afterwards the memory is already taken.
    if len(data) > _VALUE_LIMIT and data.count(b",") > _VALUE_LIMIT:
        raise InputError(f"more than {_VALUE_LIMIT:,} values", where=at_line(where, line))
    try:
        with collector_paused():
            return cast("Json", msgspec.json.decode(data))
    except UnicodeDecodeError as error:
        raise _encoding_error(data, where, line) from error
    except RecursionError as error:
        raise InputError("JSON nested too deeply", where=at_line(where, line)) from error
    except msgspec.MsgspecError as error:
        raise _syntax_error(str(error), data, where, line) from error


_BYTE = re.compile(r" \(byte (\d+)\)$")


def _encoding_error(data: bytes, where: str, line: int | None) -> InputError:
    try:
        data.decode()
        offset = 0
    except UnicodeDecodeError as error:
        offset = error.start
    line = (line or 1) + data.count(b"\n", 0, offset)
    return InputError("not valid UTF-8", where=at_line(where, line), hint=SAVE_AS_UTF8)


def _syntax_error(message: str, data: bytes, where: str, line: int | None) -> InputError:
    byte = _BYTE.search(message)
    offset = int(byte[1]) if byte else len(data.rstrip())
    problem = _BYTE.sub("", message).removeprefix("JSON is malformed: ")
    hint = None
    if problem.startswith("Number out of range"):  # the only error without a place
        offset, problem = _find_infinite(data), "a number out of range"
        hint = "write a number below 1.8e308"
    mistake = next((text for start, text in _MISTAKES.items() if start.match(data, offset)), None)
    if mistake:
        problem, hint = mistake
    elif problem.startswith("trailing comma"):
        hint = "remove the comma after the last value"
    elif "surrogate" in message or (byte is None and _LONE_SURROGATE.search(data)):
        problem, hint = "a text with half of a surrogate pair", "write the whole character"
    line = (line or 1) + data.count(b"\n", 0, offset)
    column = offset - data.rfind(b"\n", 0, offset)
    return InputError(
        f"not valid JSON: {problem}", where=f"{at_line(where, line)} column {column}", hint=hint
    )


def _find_infinite(data: bytes) -> int:
    """The offset of the first number that no float can hold."""
    numbers = (match for match in _TOKEN.finditer(data) if not match[0].startswith(b'"'))
    return next((match.start() for match in numbers if isinf(float(match[0]))), 0)


_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?', re.DOTALL)
_MISTAKES = {
    re.compile(rb"-?(NaN|Infinity)"): (
        "`NaN` and `Infinity` are not JSON",
        "write `null` for a missing number",
    ),
    re.compile(rb"//|/\*|#"): ("a comment", "remove it: JSON has no comments"),
    re.compile(rb"\.\.\.|\xe2\x80\xa6"): (
        "a `...` placeholder",
        "replace it by the values that it stands for, or remove it",
    ),
    re.compile(rb"(<{7}|={7}|>{7})[\s]"): (
        "a git merge conflict",
        "choose the lines of one side, and remove the markers",
    ),
    re.compile(rb"'"): ("a text in single quotes", "use double quotes"),
}
"""What people write that is not JSON, by how it begins."""

_LONE_SURROGATE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)

_YAML_LINE = re.compile(r" \(at line (\d+)\)")


def decode_yaml(data: bytes, *, where: str) -> YamlDocument:
    """Decode a YAML document; an error names its line."""
    try:
        with collector_paused():
            return read_yaml(data.decode())
    except UnicodeDecodeError as error:
        raise _encoding_error(data, where, None) from error
    except ValueError as error:
        line = _YAML_LINE.search(str(error))
        message = _YAML_LINE.sub("", str(error))
        raise InputError(
            f"not valid YAML: {message}", where=at_line(where, int(line[1]) if line else None)
        ) from error
