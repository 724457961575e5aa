from __future__ import annotations

from carob.schema import CaseResult, Noun, Spending, Trace, Unmatched


class Done(Noun, frozen=True):
    """What one batch of traces gave."""

    results: tuple[CaseResult, ...] = ()
    unmatched: tuple[Unmatched, ...] = ()
    lone: Trace | None = None
    """The only unmatched trace of the batch, which may turn out to be the only trace at all."""
    spending: dict[str, Spending] = {}
    """What was asked, by metric."""
