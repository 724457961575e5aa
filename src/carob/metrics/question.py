"""What a judge asks a model, and what it gets. A question is complete: who answers it needs to know
nothing of metrics, and who asks nothing of networks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import msgspec

from carob.schema import Failed, Unscored

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """A prompt, and the shape that the answer must have."""

    instructions: str
    """What the model is to do: ours, and to be trusted."""
    prompt: str
    """What it is to look at, fenced: anybody's, and not to be trusted."""
    answer: type[T]
    """A struct whose types and constraints the answer must satisfy."""
    decides: str | None = None
    """The field whose token probabilities are of interest: a number of few digits or a literal."""
    sample: int = 0
    """Which of several askings of the same question this is."""


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """A valid answer."""

    value: T
    probabilities: Mapping[str, float] = field(default_factory=dict[str, float])
    """How probable each value of the field that decides was, by its JSON text without quotes; they
    sum to 1. Empty where the provider does not tell."""


class Ask(Protocol):
    """Asks one question. What could not be answered says why: a limit was reached, or it broke."""

    async def __call__(self, question: Question[T]) -> Answer[T] | Unscored | Failed: ...
