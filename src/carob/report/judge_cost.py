"""What judges were asked, or would be."""

from __future__ import annotations

from carob.report.text import columns, count, printable
from carob.schema import CostEstimate, JudgeUsage, Run

SPENT = ("answers", "cached", "calls", "tokens in", "tokens out", "cost")


def spending(run: Run) -> list[list[str]]:
    """A table of what each judge of a run took, with its head; nothing, if there was none."""
    if not run.spending:
        return []
    return [["judge", *SPENT], *([name, *spent(one)] for name, one in run.spending.items())]


def spent(one: JudgeUsage) -> list[str]:
    """What a table of judges has in each row."""
    counts = (one.answers, one.cached, one.calls, one.input_tokens, one.output_tokens)
    return [*_numbers(*counts), dollars(one.cost)]


def estimate_text(found: CostEstimate) -> str:
    """What a run would ask, for a person."""
    if not found.metrics:
        return "no judge would be asked\n"
    head = ["judge", "calls", "cached", "tokens in", "tokens out, at most", "cost, at most"]
    rows = [
        [
            name,
            *_numbers(one.calls, one.cached, one.input_tokens, one.output_tokens),
            dollars(one.cost),
        ]
        for name, one in found.metrics.items()
    ]
    calls = count(sum(one.calls for one in found.metrics.values()), "call")
    costs = [one.cost for one in found.metrics.values()]
    known = [cost for cost in costs if cost is not None]
    whole = dollars(sum(known) if len(known) == len(costs) else None)
    lines = [f"{calls}, cost at most {whole}, without retries; nobody was asked", ""]
    return "\n".join(printable(line) for line in [*lines, *columns([head, *rows])]) + "\n"


def dollars(cost: float | None) -> str:
    """An amount, with cents as small as they are."""
    if cost is None:
        return "not known"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.2g}"


def _numbers(*values: int) -> list[str]:
    return [f"{value:,}" for value in values]
