"""Parse properties in a user's settings: plain texts, Carob's objects or ADK's rubrics."""

from __future__ import annotations

import re
from collections.abc import Iterable

from carob.schema import Json
from carob.schema import Rubric as Property


def parse_properties(values: Iterable[Json]) -> list[Property]:
    """Return the properties. Raises `ValueError` that names the invalid one."""
    return [_property(index, value) for index, value in enumerate(values)]


def _property(index: int, value: Json) -> Property:
    where = f"rubrics[{index}]"
    if isinstance(value, str):
        return Property(id=f"rubric_{index}", text=_non_empty(value, where))
    if not isinstance(value, dict):
        raise ValueError(f"{where}: expected a text or an object, got {value!r:.60}")
    fields = {_snake(key): item for key, item in value.items()}
    content = fields.get("rubric_content")
    inner = (
        {_snake(key): item for key, item in content.items()} if isinstance(content, dict) else {}
    )
    text, name = (
        fields.get("text", inner.get("text_property")),
        fields.get("id", fields.get("rubric_id")),
    )
    kind = fields.get("type")
    if text is None:
        raise ValueError(f"{where}: missing 'text' or 'rubric_content.text_property'")
    if kind is not None and not isinstance(kind, str):
        raise ValueError(f"{where}.type: expected text, got {kind!r:.60}")
    return Property(
        id=_non_empty(f"rubric_{index}" if name is None else name, f"{where}.id"),
        text=_non_empty(text, f"{where}.text"),
        type=kind,
    )


def _non_empty(value: Json, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: expected a non-empty text, got {value!r:.60}")
    return value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
