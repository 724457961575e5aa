"""Everything in which a document is not as its shape declares."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import repeat
from typing import cast

import msgspec
from msgspec import inspect

from carob.datasets.document_types import (
    BASE64,
    branch,
    coerced,
    is_kind,
    is_open,
    kind,
    names,
    struct_info,
    structs,
    type_info,
)
from carob.datasets.lens import KEY
from carob.datasets.patch import Object
from carob.schema import Json, Problem, Severity
from carob.text.spelling import meant

_NAMES: dict[type, str] = {
    inspect.AnyType: "anything",
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
    inspect.FloatType: "a number",
    inspect.IntType: "a whole number",
    inspect.ListType: "a list",
    inspect.NoneType: "null",
    inspect.StrType: "a text",
    inspect.StructType: "an object",
    inspect.VarTupleType: "a list",
}
_FORMS = {BASE64: "base64"}


def problems(doc: Json, shape: type, path: str = "$") -> Iterator[Problem]:
    """Everything in which the document is not as declared."""
    if _is_exact(shape):
        try:
            msgspec.convert(doc, shape)
        except msgspec.ValidationError:
            pass
        else:
            return
    yield from _check(doc, type_info(shape), path)


@cache
def _is_exact(shape: type) -> bool:
    """Does msgspec find unknown keys everywhere in this shape?"""
    return all(struct.forbid_unknown_fields for struct in structs(type_info(shape)))


def _check(doc: Json, declared: inspect.Type, path: str) -> Iterator[Problem]:
    if isinstance(declared, inspect.UnionType):
        declared = branch(doc, declared)
    if not is_kind(doc, declared):
        yield _mistyped(doc, declared, path)
        return
    match declared:
        case inspect.StructType():
            yield from _check_object(cast("Object", doc), declared, path)
        case inspect.ListType() | inspect.VarTupleType() | inspect.TupleType():
            for index, (value, item) in enumerate(_elements(doc, declared)):
                yield from _check(value, item, f"{path}[{index}]")
        case inspect.DictType():
            for key, value in cast("Object", doc).items():
                yield from _check(value, declared.value_type, f"{path}.{key}")
        case inspect.LiteralType() | inspect.StrType():
            yield from _check_text(cast("str", doc), declared, path)
        case _:
            pass


def _elements(
    doc: Json, declared: inspect.ListType | inspect.VarTupleType | inspect.TupleType
) -> Iterator[tuple[Json, inspect.Type]]:
    values = cast("list[Json]", doc)
    if isinstance(declared, inspect.TupleType):
        return zip(values, declared.item_types, strict=True)
    return zip(values, repeat(declared.item_type))


def _mistyped(doc: Json, declared: inspect.Type, path: str) -> Problem:
    readable = not isinstance(doc, str) or not isinstance(declared, inspect.StrType)
    severity: Severity = "error"
    hint = None
    if readable and is_kind(coerced(doc, declared), declared):
        severity, hint = "warning", "it is read as one"
    elif isinstance(declared, inspect.StrType) and isinstance(doc, int | float):
        hint = "put it in quotes"
    elif isinstance(declared, inspect.ListType) and doc is not None:
        hint = "put it in brackets"
    elif doc is None:
        hint = "leave the key out, or give it a value"
    message = f"found {kind(doc)}, expected {_expected(declared)}"
    return Problem(where=path, message=message, hint=hint, severity=severity)


def _expected(declared: inspect.Type) -> str:
    """What a type stands for, in a user's words."""
    match declared:
        case inspect.LiteralType():
            return "one of " + ", ".join(repr(value) for value in declared.values)
        case inspect.TupleType():
            return f"a list of {len(declared.item_types)}"
        case inspect.UnionType():
            return " or ".join(_expected(part) for part in declared.types)
        case _:
            return _NAMES.get(type(declared), "something else")


def _check_object(doc: Object, declared: inspect.StructType, path: str) -> Iterator[Problem]:
    fields = names(declared.cls)
    found: dict[str, str] = {}
    for key, value in doc.items():
        field = fields.get(key)
        if field is None:
            yield from _unknown(key, doc, declared, path)
        elif field.encode_name in found:
            yield Problem(
                where=f"{path}.{key}",
                message=f"{found[field.encode_name]!r} is there again in another spelling",
                hint=f"keep only one of {key!r} and {found[field.encode_name]!r}",
                severity="warning" if is_open(declared) else "error",
            )
        else:
            found[field.encode_name] = key
            yield from _check(value, field.type, f"{path}.{key}")
    for field in declared.fields:
        if field.required and field.encode_name not in found:
            yield Problem(
                where=path,
                message=f"no {field.encode_name!r}, which is required",
                hint=f"add {field.encode_name!r}: {_expected(field.type)}",
            )


def unknown(keys: Iterable[str], shape: type, path: str = "$") -> Iterator[Problem]:
    """The problems with names of columns alone."""
    columns: Object = dict.fromkeys(keys)
    for key in columns:
        if key not in names(shape):
            yield from _unknown(key, columns, struct_info(shape), path)


def _unknown(key: str, doc: Object, declared: inspect.StructType, path: str) -> Iterator[Problem]:
    """An unknown key is an error where the format forbids it; else it may be misspelt."""
    opened, dropped_by = is_open(declared), getattr(declared.cls, "dropped_by", None)
    fields = names(declared.cls)
    present = {fields[name].encode_name for name in doc if name in fields}
    absent = [field.encode_name for field in declared.fields if field.encode_name not in present]
    near = meant(key, absent, cutoff=0.8 if opened else 0.7)
    if opened and (key == KEY or not (near or dropped_by)):
        return
    drops = f", which {dropped_by} drops" if dropped_by else ""
    yield Problem(
        where=f"{path}.{key}",
        message=f"unknown key {key!r}{drops}",
        hint=near or _known_keys(declared),
        severity="warning" if opened else "error",
    )


def _known_keys(declared: inspect.StructType) -> str:
    return "the keys are " + ", ".join(field.encode_name for field in declared.fields)


def _check_text(
    doc: str, declared: inspect.LiteralType | inspect.StrType, path: str
) -> Iterator[Problem]:
    if isinstance(declared, inspect.LiteralType):
        if doc not in declared.values:
            yield Problem(
                where=path,
                message=f"found {doc!r}, expected {_expected(declared)}",
                hint=meant(doc, map(str, declared.values)),
            )
    elif declared.pattern and not re.search(declared.pattern, doc):
        wanted = _FORMS.get(declared.pattern, declared.pattern)
        yield Problem(where=path, message=f"found {kind(doc)}, expected {wanted}")
