"""Parse replies. Only a reply that matches its answer type exactly is an answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

import msgspec

from carob.judges.client.answer_type import answer_schema, find_mismatch
from carob.schema import Json
from carob.schema.base import prepare_type

T = TypeVar("T", bound=msgspec.Struct)
_MAX_CHARACTERS = 200_000


@dataclass(frozen=True)
class InvalidAnswer:
    """Why a reply is not an answer. Both the model and the user read the reason."""

    reason: str


@dataclass(frozen=True)
class ValidAnswer(Generic[T]):
    value: T


class _DuplicateFieldError(ValueError):
    pass


def parse_reply(text: str, answer: type[T]) -> ValidAnswer[T] | InvalidAnswer:
    """Find and decode the answer in a reply."""
    span = find_object(text)
    if isinstance(span, InvalidAnswer):
        return span
    start, end = span
    return decode_answer(text[start:end], answer)


def decode_answer(text: str, answer: type[T]) -> ValidAnswer[T] | InvalidAnswer:
    """Decode a JSON text, and check types, ranges and fields."""
    try:
        value = msgspec.json.decode(text, type=prepare_type(answer), strict=True)
        raw = cast("Json", msgspec.json.decode(text))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        return InvalidAnswer(str(error)[:300] or type(error).__name__)
    mismatch = find_mismatch(raw, answer_schema(answer))
    return InvalidAnswer(mismatch) if mismatch else ValidAnswer(value)


def find_object(text: str) -> tuple[int, int] | InvalidAnswer:
    """Return where the only JSON object of a text starts and ends.

    Words and code fences around it are ignored. Another brace is not: with two objects in a reply,
    a guess could take the example for the answer.
    """
    start = text.find("{")
    if start < 0:
        return InvalidAnswer("it contains no JSON object")
    if len(text) > _MAX_CHARACTERS:
        return InvalidAnswer(f"it has more than {_MAX_CHARACTERS:,} characters")
    try:
        end = _DECODER.raw_decode(text, start)[1]
    except RecursionError:
        return InvalidAnswer("its JSON is nested too deeply")
    except ValueError as error:
        return InvalidAnswer(f"its JSON is invalid: {error}"[:300])
    if "{" in text[end:] or "}" in text[end:]:
        return InvalidAnswer("it contains more than one JSON object")
    return start, end


def _reject_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise _DuplicateFieldError("duplicate field")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_reject_duplicates)
