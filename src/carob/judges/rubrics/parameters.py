"""Properties that a user's settings name: as texts, as Carob writes them, or as ADK does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from carob.schema import Json
from carob.schema import Rubric as Property


def given_properties(written: Iterable[Json]) -> list[Property]:
    """The properties; what is wrong with one is a `ValueError` that names it."""
    return [_property(place, one) for place, one in enumerate(written)]


def _property(place: int, written: Json) -> Property:
    where = f"rubrics[{place}]"
    if isinstance(written, str):
        return Property(id=f"rubric_{place}", text=_filled(written, where))
    if not isinstance(written, dict):
        raise ValueError(f"{where}: expected a text or an object, got {written!r:.60}")
    known = {_snake(key): value for key, value in written.items()}
    content = known.get("rubric_content")
    inner = (
        {_snake(key): value for key, value in content.items()} if isinstance(content, dict) else {}
    )
    text, name = (
        known.get("text", inner.get("text_property")),
        known.get("id", known.get("rubric_id")),
    )
    kind = known.get("type")
    if text is None:
        raise ValueError(f"{where}: it has neither 'text' nor 'rubric_content.text_property'")
    if kind is not None and not isinstance(kind, str):
        raise ValueError(f"{where}.type: expected text, got {kind!r:.60}")
    return Property(
        id=_filled(f"rubric_{place}" if name is None else name, f"{where}.id"),
        text=_filled(text, f"{where}.text"),
        type=kind,
    )


def _filled(value: Json, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{where}: expected a text that says something, got {value!r:.60}")
    return value


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
