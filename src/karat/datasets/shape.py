"""The declared shape of a format, held against a document.

A shape is a msgspec struct. `fit` is the fast way: it makes the struct of a document that is as
declared, and of one that has unknown keys or keys in another spelling. `problems` is the thorough
way: it names everything in which the document is not as declared.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import ClassVar, TypeVar, cast

import msgspec
from msgspec import inspect

from karat.errors import FormatError
from karat.schema import Json, Problem

S = TypeVar("S")


class Closed(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of shapes in which an unknown key is an error."""

    extensible: ClassVar[bool] = False


class Open(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Base of shapes in which unknown keys are kept. To msgspec they are an error as well, so that
    a document with a key in another spelling does not pass for one without it."""

    extensible: ClassVar[bool] = True


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


def fit(doc: Json, shape: type[S]) -> S:
    """The document as its declared shape; raises with the path of the first thing that is not."""
    try:
        return msgspec.convert(doc, shape)
    except msgspec.ValidationError:
        pass  # unknown keys, another spelling, or truly wrong: the next line tells them apart
    try:
        return msgspec.convert(_tidied(doc, type_info(shape)), shape, strict=False)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `")
        raise FormatError(
            message.replace("Expected", "expected", 1), where=path.rstrip("`") or "$"
        ) from error


def problems(doc: Json, shape: type, path: str = "$") -> Iterator[Problem]:
    """Everything in which the document is not as declared."""
    yield from _check(doc, type_info(shape), path)


@cache
def type_info(shape: type) -> inspect.Type:
    return inspect.type_info(shape)


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


def nearest(name: str, known: Iterator[str] | list[str]) -> str | None:
    """The known name that somebody who wrote `name` probably meant."""
    names = list(known)
    folded = {_folded(other): other for other in names}
    close = difflib.get_close_matches(_folded(name), list(folded), n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def _folded(key: str) -> str:
    return key.replace("_", "").lower()


@cache
def _fields(shape: type) -> dict[str, inspect.Field]:
    """The fields of a struct by name, and by every other spelling of it."""
    fields = cast("inspect.StructType", type_info(shape)).fields
    spelt = {_folded(field.encode_name): field for field in fields}
    return spelt | {field.encode_name: field for field in fields}


def _field(key: str, fields: dict[str, inspect.Field]) -> inspect.Field | None:
    return fields.get(key) or fields.get(_folded(key))


def _tidied(doc: Json, declared: inspect.Type) -> Json:
    """The document with keys spelt as declared and without unknown ones."""
    match declared:
        case inspect.StructType() if isinstance(doc, dict):
            return _tidied_object(doc, declared)
        case inspect.ListType() | inspect.VarTupleType() if isinstance(doc, list):
            return [_tidied(value, declared.item_type) for value in doc]
        case inspect.DictType() if isinstance(doc, dict):
            return {key: _tidied(value, declared.value_type) for key, value in doc.items()}
        case inspect.UnionType():
            return _tidied(doc, _branch(doc, declared))
        case _:
            return doc


def _tidied_object(doc: dict[str, Json], declared: inspect.StructType) -> Json:
    fields = _fields(declared.cls)
    made: dict[str, Json] = {}
    for key, value in doc.items():
        field = _field(key, fields)
        if field and (field.encode_name not in made or key == field.encode_name):
            made[field.encode_name] = _tidied(value, field.type)
    return made


def _branch(doc: Json, union: inspect.UnionType) -> inspect.Type:
    """The member of a union that the document is meant to be."""
    for member in union.types:
        if _is_kind(doc, member):
            return member
    return next(member for member in union.types if not isinstance(member, inspect.NoneType))


def _is_kind(doc: Json, declared: inspect.Type) -> bool:
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
        case _:
            return isinstance(doc, dict)


def _check(doc: Json, declared: inspect.Type, path: str) -> Iterator[Problem]:
    if isinstance(declared, inspect.UnionType):
        declared = _branch(doc, declared)
    if not _is_kind(doc, declared):
        expected = _NAMES.get(type(declared)) or _choices(declared)
        yield Problem(where=path, message=f"found {kind(doc)}, expected {expected}")
        return
    match declared:
        case inspect.StructType():
            yield from _check_object(cast("dict[str, Json]", doc), declared, path)
        case inspect.ListType() | inspect.VarTupleType():
            for index, value in enumerate(cast("list[Json]", doc)):
                yield from _check(value, declared.item_type, f"{path}[{index}]")
        case inspect.DictType():
            for key, value in cast("dict[str, Json]", doc).items():
                yield from _check(value, declared.value_type, f"{path}.{key}")
        case inspect.LiteralType():
            yield from _check_choice(cast("str", doc), declared, path)
        case _:
            pass


def _check_object(
    doc: dict[str, Json], declared: inspect.StructType, path: str
) -> Iterator[Problem]:
    fields = _fields(declared.cls)
    found: set[str] = set()
    for key, value in doc.items():
        field = _field(key, fields)
        if field is None:
            yield from _unknown(key, declared, path)
        elif field.encode_name in found:
            yield Problem(
                where=f"{path}.{key}",
                message=f"{field.encode_name!r} is there twice, in two spellings",
                hint=f"keep only {field.encode_name!r}",
            )
        else:
            found.add(field.encode_name)
            yield from _check(value, field.type, f"{path}.{key}")
    for field in declared.fields:
        if field.required and field.encode_name not in found:
            yield Problem(where=path, message=f"no {field.encode_name!r}, which is required")


def _unknown(key: str, declared: inspect.StructType, path: str) -> Iterator[Problem]:
    """An unknown key is an error where the format forbids it; else it may be misspelt."""
    meant = nearest(key, [field.encode_name for field in declared.fields])
    hint = f"did you mean {meant!r}?" if meant else None
    if meant or not getattr(declared.cls, "extensible", False):
        severity = "warning" if getattr(declared.cls, "extensible", False) else "error"
        message = f"unknown key {key!r}"
        yield Problem(where=f"{path}.{key}", message=message, hint=hint, severity=severity)


def _choices(declared: inspect.Type) -> str:
    if isinstance(declared, inspect.LiteralType):
        return "one of " + ", ".join(repr(value) for value in declared.values)
    return "something else"


def _check_choice(doc: str, declared: inspect.LiteralType, path: str) -> Iterator[Problem]:
    if doc not in declared.values:
        meant = nearest(doc, [str(value) for value in declared.values])
        yield Problem(
            where=path,
            message=f"found {doc!r}, expected {_choices(declared)}",
            hint=f"did you mean {meant!r}?" if meant else None,
        )
