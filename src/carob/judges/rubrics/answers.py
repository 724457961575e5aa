"""The shapes of answers. What must be answered is a field of its own, so that an answer that leaves
something out is no answer. Fields come in the order in which a model writes them: reasons first."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

Label: TypeAlias = Literal[
    "supported", "unsupported", "contradictory", "disputed", "not_applicable"
]
GOOD: frozenset[Label] = frozenset({"supported", "not_applicable"})


class Graded(Struct, frozen=True, rename="camel"):
    """A number on a scale."""

    thought_chain: str
    explanation: str
    score: float


class Verdict(Struct, frozen=True):
    explanation: str
    verdict: Literal["yes", "no"]


class Labelled(Struct, frozen=True):
    explanation: str
    label: Label


@lru_cache(maxsize=256)
def graded(low: float, high: float, *, whole: bool) -> type[Graded]:
    """A number from `low` to `high`."""
    number = (
        Annotated[int, Meta(ge=int(low), le=int(high))]
        if whole
        else Annotated[float, Meta(ge=low, le=high)]
    )
    return cast(
        "type[Graded]",
        msgspec.defstruct("Graded", [("score", number)], bases=(Graded,), frozen=True),
    )


@lru_cache(maxsize=256)
def verdicts(count: int) -> type[Struct]:
    """A verdict on each of so many properties."""
    fields = [(f"property_{number}", Verdict) for number in range(1, count + 1)]
    return msgspec.defstruct("Verdicts", fields, frozen=True)


@lru_cache(maxsize=256)
def labels(count: int) -> type[Struct]:
    """A label for each of so many sentences."""
    fields = [(f"sentence_{number}", Labelled) for number in range(1, count + 1)]
    return msgspec.defstruct("Labels", fields, frozen=True)


def listed_verdicts(answer: Struct) -> list[Verdict]:
    """The verdicts of an answer, in the order of the properties."""
    return [cast("Verdict", getattr(answer, name)) for name in answer.__struct_fields__]


def listed_labels(answer: Struct) -> list[Labelled]:
    """The labels of an answer, in the order of the sentences."""
    return [cast("Labelled", getattr(answer, name)) for name in answer.__struct_fields__]
