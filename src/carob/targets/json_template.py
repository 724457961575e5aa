"""JSON with placeholders, and paths into JSON answers.

A placeholder is filled in as a JSON value, never pasted into JSON text: `"{{message}}"` becomes the
message whatever quotes it contains, and `"{{history}}"` becomes a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from carob.errors import UsageError
from carob.schema import Json

_PLACEHOLDER = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+|\*)\]")


def fill(template: Json, values: Mapping[str, Any]) -> Json:
    """Return the template with its placeholders filled in. Raises `UsageError` for an unknown one.

    A text that is nothing but a placeholder becomes the value; in a longer text, values are
    written as text.
    """
    if isinstance(template, str):
        whole = _PLACEHOLDER.fullmatch(template)
        if whole:
            return _look_up(whole[1], values)
        return _PLACEHOLDER.sub(lambda match: _as_text(_look_up(match[1], values)), template)
    if isinstance(template, list):
        return [fill(item, values) for item in template]
    if isinstance(template, dict):
        return {key: fill(item, values) for key, item in template.items()}
    return template


def check_placeholders(template: Json, known: Mapping[str, Any], where: str) -> None:
    """Raise `UsageError` for a placeholder whose first name is unknown."""
    if isinstance(template, str):
        for match in _PLACEHOLDER.finditer(template):
            if match[1].split(".")[0] not in known:
                hint = f"known: {', '.join(known)}"
                raise UsageError(f"unknown placeholder {match[0]}", where=where, hint=hint)
    for item in template if isinstance(template, list) else ():
        check_placeholders(item, known, where)
    for item in template.values() if isinstance(template, dict) else ():
        check_placeholders(item, known, where)


def _look_up(name: str, values: Mapping[str, Any]) -> Json:
    value: Any = values
    for part in name.split("."):
        if isinstance(value, Mapping) and part in value:
            value = cast("Mapping[str, Any]", value)[part]
        elif name.split(".")[0] in values:
            return None  # such as a metadata key that this case does not have
        else:
            raise UsageError(f"unknown placeholder {{{{{name}}}}}")
    return cast("Json", value)


def _as_text(value: Json) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def parse_path(path: str, where: str) -> tuple[str | int, ...]:
    """Parse `$.choices[0].message.content`; `[*]` stands for all items. Raises `UsageError`."""
    rest = path.removeprefix("$")
    steps: list[str | int] = []
    position = 0
    for match in _STEP.finditer(rest):
        if match.start() != position:
            break
        position = match.end()
        steps.append(match[1] if match[1] is not None else _index(match[2]))
    if position != len(rest):
        hint = "such as $.choices[0].message.content"
        raise UsageError(f"invalid path {path!r}", where=where, hint=hint)
    return tuple(steps)


def _index(text: str) -> str | int:
    return "*" if text == "*" else int(text)


def find(value: Json, steps: tuple[str | int, ...]) -> Json:
    """Return what a path leads to; `None` if it leads nowhere."""
    for number, step in enumerate(steps):
        if step == "*":
            items = value if isinstance(value, list) else []
            found = [find(item, steps[number + 1 :]) for item in items]
            return [item for item in found if item is not None]
        if isinstance(step, int):
            if not isinstance(value, list) or not -len(value) <= step < len(value):
                return None
            value = value[step]
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value
