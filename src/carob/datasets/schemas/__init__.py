"""JSON Schemas of the golden formats, for editors, generated from the declared types.

`python -m carob.datasets.schemas` regenerates them. The schema of a row format describes one row.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import inspect

from carob.datasets.document_types import (
    fields_by_name,
    find_structs,
    is_open,
    item_type,
    type_info,
)
from carob.datasets.formats import Format

_Schema = dict[str, Any]


def schema_path(name: str) -> Path:
    """The path of the bundled schema of a format."""
    return Path(__file__).parent / f"{name}.json"


def build_schema(form: Format) -> _Schema:
    """Build the JSON Schema of a format."""
    (root,), parts = msgspec.json.schema_components([form.shape])
    structs = {struct.cls: struct for struct in find_structs(type_info(form.shape))}
    for struct in structs.values():
        _relax(parts[struct.cls.__name__], struct)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Carob golden format: {form.name}",
        **_allow_rows(root, form),
        "$defs": parts,
    }


def _allow_rows(root: _Schema, form: Format) -> _Schema:
    """Allow everything that a file of the format may contain: a document, a row, a list of rows."""
    key = next(iter(form.items_keys), None)
    item = item_type(form.shape, key) if key else None
    row: _Schema = {"$ref": f"#/$defs/{item.__name__}"} if item else root
    schemas = [root]
    if item and "rows" in form.containers:
        schemas.append(row)
    if "list" in form.containers:
        schemas.append({"type": "array", "items": row})
    return {"anyOf": schemas} if len(schemas) > 1 else root


def encode_schema(schema: _Schema) -> bytes:
    """The schema as it is bundled."""
    return msgspec.json.format(msgspec.json.encode(schema), indent=2) + b"\n"


def _relax(part: _Schema, struct: inspect.StructType) -> None:
    """Allow unknown keys and other spellings where the document type does."""
    if is_open(struct):
        part.pop("additionalProperties", None)
    properties = cast("_Schema", part["properties"])
    names: dict[str, list[str]] = {}
    for name, field in fields_by_name(struct.cls).items():
        names.setdefault(field.encode_name, []).append(name)
        properties.setdefault(name, properties[field.encode_name])
    required = set(cast("list[str]", part.pop("required", [])))
    single = [name for name in properties if name in required and len(names[name]) == 1]
    several = [names[name] for name in names if name in required and len(names[name]) > 1]
    if single:
        part["required"] = single
    if several:
        part["allOf"] = [
            {"anyOf": [{"required": [name]} for name in aliases]} for aliases in several
        ]
