"""Find every difference between a document and its declared type."""

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
    choose_branch,
    coerce_scalar,
    describe_value,
    fields_by_name,
    find_structs,
    is_open,
    matches_type,
    struct_info,
    type_info,
)
from carob.datasets.lens import RESERVED_KEY
from carob.datasets.patch import Object
from carob.schema import Json, Problem, Severity
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean, fold_name

_NAMES: dict[type, str] = {
    inspect.AnyType: "anything",
    inspect.BoolType: "true or false",
    inspect.DictType: "an object",
    inspect.FloatType: "a number",
    inspect.IntType: "a whole number",
    inspect.ListType: "a list",
    inspect.NoneType: "null",
    inspect.StrType: "a string",
    inspect.StructType: "an object",
    inspect.VarTupleType: "a list",
}
_PATTERN_NAMES = {BASE64: "base64"}


def find_shape_errors(doc: Json, shape: type[object], path: str = "$") -> Iterator[Problem]:
    """Yield a problem for each value that differs from the declared type."""
    # msgspec validates a correct document far faster than the walk below, and most are correct.
    if _rejects_unknown_keys(shape):
        try:
            msgspec.convert(doc, prepare_type(shape))
        except msgspec.ValidationError:
            pass
        else:
            return
    yield from _check(doc, type_info(shape), path)


@cache
def _rejects_unknown_keys(shape: type) -> bool:
    """Whether msgspec rejects unknown keys everywhere in this type."""
    return all(struct.forbid_unknown_fields for struct in find_structs(type_info(shape)))


def _check(doc: Json, declared: inspect.Type, path: str) -> Iterator[Problem]:
    if isinstance(declared, inspect.UnionType):
        declared = choose_branch(doc, declared)
    if not matches_type(doc, declared):
        yield _wrong_type(doc, declared, path)
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


def _wrong_type(doc: Json, declared: inspect.Type, path: str) -> Problem:
    coercible = not isinstance(doc, str) or not isinstance(declared, inspect.StrType)
    severity: Severity = "error"
    hint = None
    if coercible and matches_type(coerce_scalar(doc, declared), declared):
        severity, hint = "warning", f"it is read as {_describe_type(declared)}"
    elif isinstance(declared, inspect.StrType) and isinstance(doc, int | float):
        hint = "add quotes"
    elif isinstance(declared, inspect.ListType) and doc is not None:
        hint = "wrap it in a list"
    elif doc is None:
        hint = "remove the key, or add a value"
    message = f"expected {_describe_type(declared)}, got {describe_value(doc)}"
    return Problem(where=path, message=message, hint=hint, severity=severity)


def _describe_type(declared: inspect.Type) -> str:
    """A type in a user's words."""
    match declared:
        case inspect.LiteralType():
            return "one of " + ", ".join(repr(value) for value in declared.values)
        case inspect.TupleType():
            return f"a list of {len(declared.item_types)} values"
        case inspect.UnionType():
            return " or ".join(_describe_type(part) for part in declared.types)
        case _:
            return _NAMES.get(type(declared), "another type")


def _check_object(doc: Object, declared: inspect.StructType, path: str) -> Iterator[Problem]:
    fields = fields_by_name(declared.cls)
    present: dict[str, str] = {}
    for key, value in doc.items():
        field = fields.get(key)
        if field is None:
            yield from _unknown_field(key, doc, declared, path)
        elif field.encode_name in present:
            yield Problem(
                where=f"{path}.{key}",
                message=f"duplicate field {key!r}, also spelled {present[field.encode_name]!r}",
                hint="remove one of them",
                severity="warning" if is_open(declared) else "error",
            )
        else:
            present[field.encode_name] = key
            yield from _check(value, field.type, f"{path}.{key}")
    for field in declared.fields:
        if field.required and field.encode_name not in present:
            yield Problem(
                where=path,
                message=f"missing field {field.encode_name!r}",
                hint=f"add {field.encode_name!r}: {_describe_type(field.type)}",
            )


def find_unknown_columns(keys: Iterable[str], shape: type, path: str = "$") -> Iterator[Problem]:
    """Yield a problem for each column that the type does not declare."""
    columns: Object = dict.fromkeys(keys)
    fields = fields_by_name(shape)
    folded = {fold_name(name) for name in fields} if getattr(shape, "any_case", False) else ()
    for key in columns:
        if key not in fields and fold_name(key) not in folded:
            yield from _unknown_field(key, columns, struct_info(shape), path)


def _unknown_field(
    key: str, doc: Object, declared: inspect.StructType, path: str
) -> Iterator[Problem]:
    """An unknown key is an error where the format forbids it, else a warning if it is a typo."""
    allowed, dropped_by = is_open(declared), getattr(declared.cls, "dropped_by", None)
    fields = fields_by_name(declared.cls)
    present = {fields[name].encode_name for name in doc if name in fields}
    absent = [field.encode_name for field in declared.fields if field.encode_name not in present]
    suggestion = did_you_mean(key, absent, cutoff=0.8 if allowed else 0.7)
    if allowed and (key == RESERVED_KEY or not (suggestion or dropped_by)):
        return
    dropped = f", dropped by {dropped_by}" if dropped_by else ""
    yield Problem(
        where=f"{path}.{key}",
        message=f"unknown field {key!r}{dropped}",
        hint=suggestion or _list_fields(declared),
        severity="warning" if allowed else "error",
    )


def _list_fields(declared: inspect.StructType) -> str:
    return "expected one of: " + ", ".join(field.encode_name for field in declared.fields)


def _check_text(
    doc: str, declared: inspect.LiteralType | inspect.StrType, path: str
) -> Iterator[Problem]:
    if isinstance(declared, inspect.LiteralType):
        if doc not in declared.values:
            yield Problem(
                where=path,
                message=f"expected {_describe_type(declared)}, got {doc!r}",
                hint=did_you_mean(doc, map(str, declared.values)),
            )
    elif declared.pattern and not re.search(declared.pattern, doc):
        expected = _PATTERN_NAMES.get(declared.pattern, declared.pattern)
        yield Problem(where=path, message=f"expected {expected}, got {describe_value(doc)}")
