"""What asking took, for one metric and one pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import fsum

from carob.schema import Asked, Spending


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A question that was answered or given up. The numbers are those of the time when the model
    was really asked."""

    address: str
    """The digest of all that was sent."""
    answered: bool
    cached: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


@dataclass
class Ledger:
    """Filled by who answers, in any order; what it says does not depend on the order."""

    entries: list[Entry] = field(default_factory=list[Entry])

    def asked(self, model: str) -> Asked:
        """The record for one score."""
        sent = "\n".join(sorted(one.address for one in self.entries))
        return Asked(
            model=model,
            prompt=f"sha256:{sha256(sent.encode()).hexdigest()}",
            samples=sum(one.answered for one in self.entries),
            calls=sum(one.calls for one in self.entries),
            input_tokens=sum(one.input_tokens for one in self.entries),
            output_tokens=sum(one.output_tokens for one in self.entries),
            cost=_cost(self.entries),
        )

    def spending(self) -> Spending:
        """What was asked now: answers from the cache cost nothing."""
        paid = [one for one in self.entries if not one.cached]
        return Spending(
            answers=sum(one.answered for one in self.entries),
            cached=len(self.entries) - len(paid),
            calls=sum(one.calls for one in paid),
            input_tokens=sum(one.input_tokens for one in paid),
            output_tokens=sum(one.output_tokens for one in paid),
            cost=_cost(paid),
        )


def together(one: Spending, other: Spending) -> Spending:
    """The sum of two."""
    costs = [cost for cost in (one.cost, other.cost) if cost is not None]
    return Spending(
        answers=one.answers + other.answers,
        cached=one.cached + other.cached,
        calls=one.calls + other.calls,
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cost=sum(costs) if len(costs) == 2 else None,
    )


def _cost(entries: Sequence[Entry]) -> float | None:
    """A sum of which a part is not known is not known."""
    known = [one.cost for one in entries if one.cost is not None]
    return fsum(known) if len(known) == len(entries) else None
