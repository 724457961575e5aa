"""What judges cost: calls, tokens and dollars of a run, or the estimate of a dry run."""

from __future__ import annotations

from carob.report.layout import PLAIN, Display, TextTable, join_lines
from carob.report.text import count, integers
from carob.schema import CostEstimate, JudgeUsage, Run

USAGE_HEAD = ("answers", "cached", "calls", "tokens in", "tokens out", "cost")


def judge_cost_table(run: Run) -> list[list[str]]:
    """Return a row for each judge below a head row, or no rows if no judge was used."""
    if not run.spending:
        return []
    rows = [[name, *usage_cells(usage)] for name, usage in run.spending.items()]
    return [["judge", *USAGE_HEAD], *rows]


def usage_cells(usage: JudgeUsage) -> list[str]:
    """Return the cells of a judge's row in a table of judges."""
    counts = (usage.answers, usage.cached, usage.calls, usage.input_tokens, usage.output_tokens)
    return [*integers(*counts), dollars(usage.cost)]


def format_estimate(estimate: CostEstimate, display: Display = PLAIN) -> str:
    """Return what the judges of a run would cost at most."""
    if not estimate.metrics:
        return "no judge calls needed\n"
    head = ["judge", "calls", "cached", "tokens in", "max tokens out", "max cost"]
    rows = [
        [
            name,
            *integers(cost.calls, cost.cached, cost.input_tokens, cost.output_tokens),
            dollars(cost.cost),
        ]
        for name, cost in estimate.metrics.items()
    ]
    calls = count(sum(cost.calls for cost in estimate.metrics.values()), "call")
    costs = [cost.cost for cost in estimate.metrics.values()]
    known = [cost for cost in costs if cost is not None]
    total = dollars(sum(known) if len(known) == len(costs) else None)
    lines = [f"dry run: {calls}, maximum cost {total} (without retries); no calls made", ""]
    return join_lines([*lines, TextTable([head, *rows])], display)


def dollars(cost: float | None) -> str:
    """Return an amount in dollars, with two significant digits below one dollar."""
    if cost is None:
        return "unknown"
    return f"${cost:,.2f}" if cost >= 1 or cost == 0 else f"${cost:.2g}"
