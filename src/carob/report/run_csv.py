"""A run as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from carob.analysis.repeats import count_attempts, pass_all, pass_at
from carob.report.forms import ReportInputs
from carob.schema import AttemptCounts, CaseResult, CaseScore

_CSV = ("case", "trace", "status", "metric", "score_status", "value", "threshold", "reason")


def format_run_csv(inputs: ReportInputs) -> Iterator[str]:
    """Yield one row for each score. With repeated attempts, each row has pass@k and pass^k of its
    case as well."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    attempts = inputs.run.summary.attempts
    ks = [rate.k for rate in attempts.rates] if attempts else []
    writer.writerow((*_CSV, *_attempt_columns(ks)))
    # The attempts at a case are next to each other.
    for _, results in groupby(inputs.run.cases, lambda result: result.case or result.trace):
        attempted = [*results]
        rates = _attempt_cells(ks, count_attempts(attempted))
        for result in attempted:
            for score in result.scores or (None,):
                row = (*_csv_row(result, score), *rates)
                writer.writerow([_csv_cell(value) for value in row])
        yield file.getvalue()
        file.seek(0)
        file.truncate()
    yield file.getvalue()  # the head of a run without cases


def _attempt_columns(ks: Sequence[int]) -> list[str]:
    if not ks:
        return []
    names = [f"{name}{k}" for k in ks for name in ("pass@", "pass^")]
    return ["attempts", "attempts_passed", "flaky", *names]


def _attempt_cells(ks: Sequence[int], counts: AttemptCounts) -> list[object]:
    """Return the cells of a case, empty for a k of which it has too few decided attempts."""
    if not ks:
        return []
    flaky = "true" if 0 < counts.passed < counts.total else "false"
    rates: list[object] = []
    for k in ks:
        known = counts.total >= k
        rates += [estimate(k, counts) if known else None for estimate in (pass_at, pass_all)]
    return [counts.total, counts.passed, flaky, *rates]


def _csv_row(result: CaseResult, score: CaseScore | None) -> tuple[object, ...]:
    pair = (result.case, result.trace, result.status)
    if score is None:
        return (*pair, None, None, None, None, result.paired_by)
    return (*pair, score.metric, score.status, score.value, score.threshold, score.reason)


def _csv_cell(value: object) -> object:
    """Quote text that a spreadsheet would evaluate as a formula."""
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return value
