"""Calls, tokens and cost of the questions that one metric asks about one pair."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from math import fsum

import msgspec

from carob.schema import JudgeCost, JudgeUsage


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One question, answered or given up.

    For a cached answer, calls, tokens and cost are those of the original call.
    """

    address: str
    """Digest of the request."""
    answered: bool
    cached: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None


class Ledger(msgspec.Struct):
    """Entries in the order in which answers arrive. The sums do not depend on that order."""

    entries: list[LedgerEntry] = []

    def judge_cost(self, model: str) -> JudgeCost:
        """Return the cost that is stored with the score, cached answers included."""
        # Answers arrive in any order; sorting keeps the digest the same from run to run.
        sent = "\n".join(sorted(entry.address for entry in self.entries))
        return JudgeCost(
            model=model,
            prompt=f"sha256:{sha256(sent.encode()).hexdigest()}",
            samples=sum(entry.answered for entry in self.entries),
            calls=sum(entry.calls for entry in self.entries),
            input_tokens=sum(entry.input_tokens for entry in self.entries),
            output_tokens=sum(entry.output_tokens for entry in self.entries),
            cost=_total_cost(self.entries),
        )

    def judge_usage(self) -> JudgeUsage:
        """Return what this run spent. Answers from the cache cost nothing."""
        paid = [entry for entry in self.entries if not entry.cached]
        return JudgeUsage(
            answers=sum(entry.answered for entry in self.entries),
            cached=len(self.entries) - len(paid),
            calls=sum(entry.calls for entry in paid),
            input_tokens=sum(entry.input_tokens for entry in paid),
            output_tokens=sum(entry.output_tokens for entry in paid),
            cost=_total_cost(paid),
        )


def add_usage(first: JudgeUsage, second: JudgeUsage) -> JudgeUsage:
    """Return the sum of two usages. The cost is unknown if either cost is."""
    costs = [cost for cost in (first.cost, second.cost) if cost is not None]
    return JudgeUsage(
        answers=first.answers + second.answers,
        cached=first.cached + second.cached,
        calls=first.calls + second.calls,
        input_tokens=first.input_tokens + second.input_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        cost=sum(costs) if len(costs) == 2 else None,
    )


def _total_cost(entries: Sequence[LedgerEntry]) -> float | None:
    known = [entry.cost for entry in entries if entry.cost is not None]
    # `fsum` rounds once, so the total is the same in any order of arrival.
    return fsum(known) if len(known) == len(entries) else None
