"""Mappings of fields: under which names the rows of a file state what Carob looks for.

`--map` and the `[map]` table of `carob.toml` name fields of golden rows, of logs, or of both. Only
`id` is a field of both.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from carob.errors import UsageError

GOLDEN_FIELDS = ("input", "expected", "id", "context", "tool_calls", "contains", "rubrics", "tags",
    "recorded")  # fmt: skip
LOG_FIELDS = ("user", "response", "calls", "id", "session", "model", "time", "latency_ms", "error",
    "input_tokens", "output_tokens")  # fmt: skip
ALL_FIELDS = tuple(dict.fromkeys((*GOLDEN_FIELDS, *LOG_FIELDS)))


def parse_field_map(spec: str, fields: Collection[str] = ALL_FIELDS) -> dict[str, str]:
    """The mapping in a text such as `input=frage,expected=antwort`."""
    mapping: dict[str, str] = {}
    for part in filter(None, map(str.strip, spec.split(","))):
        field, _, name = (piece.strip() for piece in part.partition("="))
        mapping[field] = name
    if not mapping:
        raise UsageError("empty mapping", hint=f"fields: {', '.join(fields)}")
    return check_field_map(mapping, fields)


def check_field_map(
    mapping: Mapping[str, str], fields: Collection[str] = ALL_FIELDS
) -> dict[str, str]:
    """Return the mapping; raises `UsageError` for an unknown field or an empty name."""
    for field, name in mapping.items():
        if field not in fields or not name:
            part = f"{field}={name}" if name else field
            raise UsageError(
                f"expected FIELD=NAME in a mapping, got {part!r}",
                hint=f"fields: {', '.join(fields)}",
            )
    return {**mapping}


def select_fields(mapping: Mapping[str, str], fields: Collection[str]) -> dict[str, str]:
    """The part of a mapping that names these fields; empty if it names nothing but the id, which
    may be meant for the other file."""
    part = {field: name for field, name in mapping.items() if field in fields}
    return part if part.keys() - {"id"} else {}


def format_field_map(mapping: Mapping[str, str]) -> str:
    """The mapping as a text."""
    return ",".join("=".join(pair) for pair in mapping.items())
