"""JSON Schemas of the golden formats, for editors: made from the declared shapes.

`python -m carob.datasets.schemas` writes them anew. Rows and tables are described row by row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import inspect

from carob.datasets.document_types import is_open, names, structs, type_info
from carob.datasets.formats import Format

_Schema = dict[str, Any]


def schema_path(name: str) -> Path:
    """The shipped schema of a format."""
    return Path(__file__).parent / f"{name}.json"


def schema_of(form: Format) -> _Schema:
    """The JSON Schema of a format."""
    (root,), parts = msgspec.json.schema_components([form.shape])
    found = {struct.cls: struct for struct in structs(type_info(form.shape))}
    for struct in found.values():
        _relax(parts[struct.cls.__name__], struct)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Carob golden format: {form.name}",
        **root,
        "$defs": parts,
    }


def encoded(schema: _Schema) -> bytes:
    """The schema as it is shipped."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _relax(part: _Schema, struct: inspect.StructType) -> None:
    """Allow what a shape allows beyond its msgspec struct: unknown keys, and other spellings."""
    if is_open(struct):
        part.pop("additionalProperties", None)
    properties = cast("_Schema", part["properties"])
    spelt: dict[str, list[str]] = {}
    for name, field in names(struct.cls).items():
        spelt.setdefault(field.encode_name, []).append(name)
        properties.setdefault(name, properties[field.encode_name])
    required = set(cast("list[str]", part.pop("required", [])))
    single = [name for name in properties if name in required and len(spelt[name]) == 1]
    several = [spelt[name] for name in spelt if name in required and len(spelt[name]) > 1]
    if single:
        part["required"] = single
    if several:
        part["allOf"] = [{"anyOf": [{"required": [name]} for name in found]} for found in several]
