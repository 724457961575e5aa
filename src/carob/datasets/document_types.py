"""Declared types of documents, and parsing a document as its type.

A document type is a msgspec struct. `parse_document` accepts documents exactly as declared, and
also those with unknown keys, keys in another spelling, and numbers written as strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Annotated, ClassVar, TypeAlias, TypeVar, cast

import msgspec
from msgspec import inspect

from carob.datasets.patch import Object
from carob.errors import FormatError
from carob.schema import Json
from carob.schema.base import prepare_type
from carob.text.spelling import fold_name

S = TypeVar("S")


# Parsed documents form trees without cycles, so the garbage collector need not track them (`gc`).
class ClosedDocument(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of types in which an unknown key is an error."""

    extensible: ClassVar[bool] = False


class OpenDocument(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of types in which unknown keys are allowed and kept.

    msgspec rejects them all the same: else a document with `userContent` would be accepted as one
    without `user_content`.
    """

    extensible: ClassVar[bool] = True
    one_spelling: ClassVar[bool] = False
    """Whether keys must be spelled as declared: `camelCase` is not read as `snake_case`."""
    pascal_case: ClassVar[bool] = False
    """Whether keys may be spelled as C# serializers do: `ExpectedOutput`."""
    dropped_by: ClassVar[str | None] = None
    """The tool that silently drops unknown keys, if any."""
    any_case: ClassVar[bool] = False
    """Whether keys may have any case and spacing: `EXPECTED OUTPUT`."""
    aliases: ClassVar[dict[str, str]] = {}
    """Alternative names of fields."""


BASE64 = (
    r"^(?=[A-Za-z0-9+/]*=*$|[A-Za-z0-9_-]*=*$)"
    r"(?:[^=]{4})*(?:[^=][AQgw](?:==)?|[^=]{2}[AEIMQUYcgkosw048]=?)?$"
)

Base64: TypeAlias = Annotated[str, msgspec.Meta(pattern=BASE64)]
"""Bytes in the standard or the URL-safe alphabet, with or without padding."""

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}


def parse_document(doc: Json, shape: type[S]) -> S:
    """Parse a document as its type; raises `FormatError` with the path of the first mismatch."""
    try:
        return msgspec.convert(doc, prepare_type(shape))
    except msgspec.ValidationError:
        pass  # unknown keys, another spelling, or invalid: normalizing decides which
    try:
        return msgspec.convert(_normalize(doc, type_info(shape)), prepare_type(shape))
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        raise FormatError(
            message.replace("Expected", "expected", 1), where=path.rstrip("`") or "$"
        ) from error


@cache
def type_info(shape: type) -> inspect.Type:
    """The declaration of a type."""
    return inspect.type_info(shape)


def find_structs(declared: inspect.Type) -> Iterator[inspect.StructType]:
    """The structs that a type consists of, outermost first."""
    match declared:
        case inspect.StructType():
            yield declared
            for field in declared.fields:
                yield from find_structs(field.type)
        case inspect.ListType() | inspect.VarTupleType():
            yield from find_structs(declared.item_type)
        case inspect.TupleType():
            for item in declared.item_types:
                yield from find_structs(item)
        case inspect.DictType():
            yield from find_structs(declared.value_type)
        case inspect.UnionType():
            for member in declared.types:
                yield from find_structs(member)
        case _:
            pass


def is_open(struct: inspect.StructType) -> bool:
    """Whether the struct allows unknown keys."""
    return getattr(struct.cls, "extensible", not struct.forbid_unknown_fields)


def describe_value(value: Json) -> str:
    """A value in a user's words: `the string 'x'`, `a list`."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the string {value[:40]!r}" if value else "an empty string"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"the number {value}"


def find_member(doc: Json, name: str) -> tuple[str, Json]:
    """The key of a field in an object, in any spelling, and its value."""
    if isinstance(doc, dict):
        for key in spellings(name):
            if key in doc:
                return key, doc[key]
    return name, None


@cache
def spellings(name: str) -> tuple[str, ...]:
    """A name as declared, in snake_case, in camelCase and in PascalCase."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    first, *rest = snake.split("_")
    tail = "".join(word.title() for word in rest)
    return tuple(dict.fromkeys([name, snake, first + tail, first.title() + tail]))


@cache
def fields_by_name(struct: type) -> dict[str, inspect.Field]:
    """The fields of a struct by every name that they may have."""
    fields = {field.encode_name: field for field in struct_info(struct).fields}
    if getattr(struct, "one_spelling", False):
        return fields
    spellings_ = {
        spelling: field
        for name, field in fields.items()
        for spelling in spellings(name)
        if getattr(struct, "pascal_case", False) or not spelling[:1].isupper()
    }
    aliases = cast("dict[str, str]", getattr(struct, "aliases", {}))
    return {**{alias: fields[name] for alias, name in aliases.items()}, **spellings_, **fields}


def item_type(shape: type, key: str) -> type | None:
    """The type of the cases that a document lists under `key`."""
    field = fields_by_name(shape).get(key)
    list_type = field.type if field else None
    item = list_type.item_type if isinstance(list_type, inspect.ListType) else None
    return item.cls if isinstance(item, inspect.StructType) else None


def struct_info(struct: type) -> inspect.StructType:
    """The declaration of a struct."""
    return cast("inspect.StructType", type_info(struct))


def _normalize(doc: Json, declared: inspect.Type) -> Json:
    """The document with keys spelled as declared, without unknown keys, and with numbers and
    booleans that were written as strings."""
    match declared:
        case inspect.StructType() if isinstance(doc, dict):
            return _normalize_object(doc, declared)
        case inspect.ListType() | inspect.VarTupleType() if isinstance(doc, list):
            return [_normalize(value, declared.item_type) for value in doc]
        case inspect.TupleType() if isinstance(doc, list) and len(doc) == len(declared.item_types):
            return [_normalize(*pair) for pair in zip(doc, declared.item_types, strict=True)]
        case inspect.DictType() if isinstance(doc, dict):
            return {key: _normalize(value, declared.value_type) for key, value in doc.items()}
        case inspect.UnionType():
            return _normalize(doc, choose_branch(doc, declared))
        case _:
            return coerce_scalar(doc, declared)


def _normalize_object(doc: Object, declared: inspect.StructType) -> Json:
    fields = fields_by_name(declared.cls)
    normalized: Object = {}
    for key, value in doc.items():
        field = fields.get(key)
        if field is None or (value is None and not field.required and not _takes_null(field)):
            continue
        # With both `userContent` and `user_content`, the declared spelling wins in any order.
        if field.encode_name not in normalized or key == field.encode_name:
            normalized[field.encode_name] = _normalize(value, field.type)
    return normalized


def _takes_null(field: inspect.Field) -> bool:
    declared = field.type
    members = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    return any(isinstance(member, inspect.NoneType | inspect.AnyType) for member in members)


def coerce_scalar(doc: Json, declared: inspect.Type) -> Json:
    """A number or boolean that was written as a string or as another number."""
    if isinstance(doc, list | dict | None):
        return doc
    try:
        match declared:
            case inspect.FloatType():
                return float(doc)
            case inspect.IntType() if float(doc).is_integer():
                return int(float(doc))
            case inspect.BoolType():
                # `1.0` is true as `1` is: pydantic, and thus google-adk, accepts both.
                text = f"{doc:g}" if isinstance(doc, float) else str(doc).lower()
                return _BOOLEANS.get(text, doc)
            case _:
                return doc
    except (ValueError, OverflowError):
        return doc


def choose_branch(doc: Json, union: inspect.UnionType) -> inspect.Type:
    """The member of a union that the document matches, or else the first that is not null."""
    for alternative in union.types:
        if matches_type(doc, alternative):
            return alternative
    return next(part for part in union.types if not isinstance(part, inspect.NoneType))


def matches_type(doc: Json, declared: inspect.Type) -> bool:
    """Whether the document has the declared type, whatever it contains."""
    match declared:
        case inspect.AnyType():
            return True
        case inspect.NoneType():
            return doc is None
        case inspect.BoolType():
            return isinstance(doc, bool)
        case inspect.IntType():
            return isinstance(doc, int) and not isinstance(doc, bool)
        case inspect.FloatType():
            return isinstance(doc, int | float) and not isinstance(doc, bool)
        case inspect.StrType() | inspect.LiteralType():
            return isinstance(doc, str)
        case inspect.ListType() | inspect.VarTupleType():
            return isinstance(doc, list)
        case inspect.TupleType():
            return isinstance(doc, list) and len(doc) == len(declared.item_types)
        case _:
            return isinstance(doc, dict)


def normalize_keys(item: Object, names: tuple[str, ...]) -> Object:
    """The object with these keys spelled like this; an exact match wins over another spelling."""
    usual = _usual_spellings(names)
    renamed = {key: usual.get(fold_name(key), key) for key in item}
    return {name: item[key] for key, name in renamed.items() if key == name or name not in item}


@cache
def _usual_spellings(names: tuple[str, ...]) -> dict[str, str]:
    return {fold_name(name): name for name in names}
