"""The declared shape of a format, held against a document.

A shape is a msgspec struct. `fit` makes it of a document that is as declared, and of one that has
unknown keys or keys in another spelling.
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
from carob.text.spelling import fold

S = TypeVar("S")


class Closed(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of shapes in which an unknown key is an error."""

    extensible: ClassVar[bool] = False


class Open(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of shapes in which unknown keys are kept. To msgspec they are an error as well, so that
    a document with a key in another spelling does not pass for one without it."""

    extensible: ClassVar[bool] = True
    one_spelling: ClassVar[bool] = False
    """Whether `camelCase` is not read as `snake_case`."""
    dropped_by: ClassVar[str | None] = None
    """The tool that throws unknown keys away, if there is one."""
    also: ClassVar[dict[str, str]] = {}
    """Older names of fields."""


BASE64 = (
    r"^(?=[A-Za-z0-9+/]*=*$|[A-Za-z0-9_-]*=*$)"
    r"(?:[^=]{4})*(?:[^=][AQgw](?:==)?|[^=]{2}[AEIMQUYcgkosw048]=?)?$"
)

Base64: TypeAlias = Annotated[str, msgspec.Meta(pattern=BASE64)]
"""Bytes in either alphabet, with padding or without."""

_SWITCHES = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}


def fit(doc: Json, shape: type[S]) -> S:
    """The document as its declared shape; raises with the path of the first thing that is not."""
    try:
        return msgspec.convert(doc, shape)
    except msgspec.ValidationError:
        pass  # unknown keys, another spelling, or truly wrong: the next line tells them apart
    try:
        return msgspec.convert(_tidied(doc, type_info(shape)), shape)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        raise FormatError(
            message.replace("Expected", "expected", 1), where=path.rstrip("`") or "$"
        ) from error


@cache
def type_info(shape: type) -> inspect.Type:
    """What a shape declares."""
    return inspect.type_info(shape)


def structs(declared: inspect.Type) -> Iterator[inspect.StructType]:
    """The structs that a type is made of, outermost first."""
    match declared:
        case inspect.StructType():
            yield declared
            for field in declared.fields:
                yield from structs(field.type)
        case inspect.ListType() | inspect.VarTupleType():
            yield from structs(declared.item_type)
        case inspect.TupleType():
            for item in declared.item_types:
                yield from structs(item)
        case inspect.DictType():
            yield from structs(declared.value_type)
        case inspect.UnionType():
            for member in declared.types:
                yield from structs(member)
        case _:
            pass


def is_open(struct: inspect.StructType) -> bool:
    """May there be unknown keys?"""
    return getattr(struct.cls, "extensible", not struct.forbid_unknown_fields)


def kind(value: Json) -> str:
    """What a value is, in a user's words."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"the text {value[:40]!r}" if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"the number {value}"


def member(doc: Json, name: str) -> tuple[str, Json]:
    """The key under which an object has a field, in either spelling, and its value."""
    if isinstance(doc, dict):
        for key in spellings(name):
            if key in doc:
                return key, doc[key]
    return name, None


@cache
def spellings(name: str) -> tuple[str, ...]:
    """A name as it is declared, in snake_case and in camelCase."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    first, *rest = snake.split("_")
    return tuple(dict.fromkeys([name, snake, first + "".join(word.title() for word in rest)]))


@cache
def names(struct: type) -> dict[str, inspect.Field]:
    """The fields of a struct by every name that they may have."""
    fields = {field.encode_name: field for field in struct_info(struct).fields}
    if getattr(struct, "one_spelling", False):
        return fields
    spelt = {other: field for name, field in fields.items() for other in spellings(name)}
    also = cast("dict[str, str]", getattr(struct, "also", {}))
    return {**{other: fields[name] for other, name in also.items()}, **spelt, **fields}


def item_shape(shape: type, key: str) -> type | None:
    """The shape of the cases that a document lists under `key`."""
    field = names(shape).get(key)
    listed = field.type if field else None
    item = listed.item_type if isinstance(listed, inspect.ListType) else None
    return item.cls if isinstance(item, inspect.StructType) else None


def struct_info(struct: type) -> inspect.StructType:
    """What a struct declares."""
    return cast("inspect.StructType", type_info(struct))


def _tidied(doc: Json, declared: inspect.Type) -> Json:
    """The document with keys spelt as declared, without unknown ones, and with numbers and truth
    values that were written as texts."""
    match declared:
        case inspect.StructType() if isinstance(doc, dict):
            return _tidied_object(doc, declared)
        case inspect.ListType() | inspect.VarTupleType() if isinstance(doc, list):
            return [_tidied(value, declared.item_type) for value in doc]
        case inspect.TupleType() if isinstance(doc, list) and len(doc) == len(declared.item_types):
            return [_tidied(*pair) for pair in zip(doc, declared.item_types, strict=True)]
        case inspect.DictType() if isinstance(doc, dict):
            return {key: _tidied(value, declared.value_type) for key, value in doc.items()}
        case inspect.UnionType():
            return _tidied(doc, branch(doc, declared))
        case _:
            return coerced(doc, declared)


def _tidied_object(doc: Object, declared: inspect.StructType) -> Json:
    fields = names(declared.cls)
    made: Object = {}
    for key, value in doc.items():
        field = fields.get(key)
        if field is None or (value is None and not field.required and not _takes_null(field)):
            continue
        if field.encode_name not in made or key == field.encode_name:
            made[field.encode_name] = _tidied(value, field.type)
    return made


def _takes_null(field: inspect.Field) -> bool:
    declared = field.type
    members = declared.types if isinstance(declared, inspect.UnionType) else (declared,)
    return any(isinstance(member, inspect.NoneType | inspect.AnyType) for member in members)


def coerced(doc: Json, declared: inspect.Type) -> Json:
    """A number or truth value that is written as another one or as a text."""
    if isinstance(doc, list | dict | None):
        return doc
    try:
        match declared:
            case inspect.FloatType():
                return float(doc)
            case inspect.IntType() if float(doc).is_integer():
                return int(float(doc))
            case inspect.BoolType():
                text = f"{doc:g}" if isinstance(doc, float) else str(doc).lower()
                return _SWITCHES.get(text, doc)
            case _:
                return doc
    except (ValueError, OverflowError):
        return doc


def branch(doc: Json, union: inspect.UnionType) -> inspect.Type:
    """The member of a union that the document is meant to be."""
    for alternative in union.types:
        if is_kind(doc, alternative):
            return alternative
    return next(part for part in union.types if not isinstance(part, inspect.NoneType))


def is_kind(doc: Json, declared: inspect.Type) -> bool:
    """Is it what is declared, whatever it holds?"""
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


def respelt(item: Object, names: tuple[str, ...]) -> Object:
    """The object with these keys spelt like this; the usual spelling wins over another one."""
    usual = _usual(names)
    spelt = {key: usual.get(fold(key), key) for key in item}
    return {name: item[key] for key, name in spelt.items() if key == name or name not in item}


@cache
def _usual(names: tuple[str, ...]) -> dict[str, str]:
    return {fold(name): name for name in names}
