"""Is a reply an answer? Only what satisfies the type to the letter is one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import msgspec

from carob.judges.client.shape import open_end, schema_of
from carob.schema import Json

T = TypeVar("T", bound=msgspec.Struct)
_LONGEST = 200_000
"""Characters of a reply that anybody looks at."""


@dataclass(frozen=True)
class Invalid:
    """Why a reply is no answer, in words that a model and a user understand."""

    why: str


@dataclass(frozen=True)
class Valid(Generic[T]):
    value: T


class _TwiceError(ValueError):
    """A field that is said twice: nobody knows which is meant."""


def check(text: str, answer: type[T]) -> Valid[T] | Invalid:
    """The answer that a reply holds, or why it holds none."""
    found = only_object(text)
    if isinstance(found, Invalid):
        return found
    start, end = found
    return read(text[start:end], answer)


def read(text: str, answer: type[T]) -> Valid[T] | Invalid:
    """The answer that a JSON text is: types, ranges and fields are all as declared."""
    try:
        value = msgspec.json.decode(text, type=answer, strict=True)
        raw = cast("Json", msgspec.json.decode(text))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return Invalid(str(error)[:300] or type(error).__name__)
    wrong = open_end(raw, schema_of(answer))
    return Invalid(wrong) if wrong else Valid(value)


def only_object(text: str) -> tuple[int, int] | Invalid:
    """Where the one JSON object of a text begins and ends. Words or fences around it do no harm;
    another brace does, since then it is not sure which object is meant."""
    start = text.find("{")
    if start < 0:
        return Invalid("there is no JSON object in it")
    if len(text) > _LONGEST:
        return Invalid(f"it has more than {_LONGEST:,} characters")
    try:
        end = _DECODER.raw_decode(text, start)[1]
    except RecursionError:
        return Invalid("its JSON is nested too deeply")
    except ValueError as error:
        return Invalid(f"its JSON is broken: {error}"[:300])
    if "{" in text[end:] or "}" in text[end:]:
        return Invalid("there is more than one JSON object in it")
    return start, end


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise _TwiceError("a field is there twice")
    return made


_DECODER = json.JSONDecoder(object_pairs_hook=_once)
