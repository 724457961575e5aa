"""The types of answers.

Every item to be judged is a required field, so that an answer cannot omit one. The order of the
fields is the order in which a model writes them: the reason comes before the verdict.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, TypeAlias, cast

import msgspec
from msgspec import Meta, Struct

SupportLabel: TypeAlias = Literal[
    "supported", "unsupported", "contradictory", "disputed", "not_applicable"
]
GOOD_LABELS: frozenset[SupportLabel] = frozenset({"supported", "not_applicable"})


class NumericAnswer(Struct, frozen=True, rename="camel"):
    """A number on a scale."""

    thought_chain: str
    explanation: str
    score: float


class VerdictAnswer(Struct, frozen=True):
    explanation: str
    verdict: Literal["yes", "no"]


class LabelAnswer(Struct, frozen=True):
    explanation: str
    label: SupportLabel


@lru_cache(maxsize=256)
def numeric_answer_type(low: float, high: float, *, whole: bool) -> type[NumericAnswer]:
    """Return the type of answers with a number from `low` to `high`."""
    number = (
        Annotated[int, Meta(ge=int(low), le=int(high))]
        if whole
        else Annotated[float, Meta(ge=low, le=high)]
    )
    return cast(
        "type[NumericAnswer]",
        msgspec.defstruct("Graded", [("score", number)], bases=(NumericAnswer,), frozen=True),
    )


@lru_cache(maxsize=256)
def verdicts_type(count: int) -> type[Struct]:
    """Return the type of answers with a verdict on each of `count` properties."""
    fields = [(f"property_{number}", VerdictAnswer) for number in range(1, count + 1)]
    return msgspec.defstruct("Verdicts", fields, frozen=True)


@lru_cache(maxsize=256)
def labels_type(count: int) -> type[Struct]:
    """Return the type of answers with a label for each of `count` sentences."""
    fields = [(f"sentence_{number}", LabelAnswer) for number in range(1, count + 1)]
    return msgspec.defstruct("Labels", fields, frozen=True)


def list_verdicts(answer: Struct) -> list[VerdictAnswer]:
    """Return the verdicts of an answer in the order of the properties."""
    return [cast("VerdictAnswer", getattr(answer, name)) for name in answer.__struct_fields__]


def list_labels(answer: Struct) -> list[LabelAnswer]:
    """Return the labels of an answer in the order of the sentences."""
    return [cast("LabelAnswer", getattr(answer, name)) for name in answer.__struct_fields__]
