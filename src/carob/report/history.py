"""The run history, and operations on the store, as text."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.layout import (
    PLAIN,
    Block,
    Display,
    Painted,
    Part,
    TextTable,
    fits,
    join_lines,
    status,
)
from carob.report.text import count
from carob.schema.history import HistoryPage, PruneReport, RunEntry, TransferReport, VerifyReport

_COMMIT_LENGTH = 10
_ID_LENGTH = 12
_HEAD = ["run", "verdict", "passed", "dataset", "created"]


def format_history(
    history: HistoryPage, newest: str | None = None, display: Display = PLAIN
) -> str:
    """Return a line for each run, newest first. With `newest`, the name of the first run, such as
    `latest`, every run has the name by which commands find it: `latest~1`."""
    if not history.runs:
        return "no runs\n"
    names = [f"{newest}~{age}" if age else newest for age in range(len(history.runs))]
    rows: list[list[Part]] = [
        _row(run, name if newest else None) for run, name in zip(history.runs, names, strict=True)
    ]
    lines: list[Block] = [_run_table(history.runs, rows, display)]
    if history.next:
        lines += ["", f"next page: --start {history.next}"]
    return join_lines(lines, display)


def _run_table(
    runs: Sequence[RunEntry], rows: Sequence[Sequence[Part]], display: Display
) -> TextTable:
    """Return one line for each run; on a terminal that is too narrow, change and labels are on a
    second one."""
    labels = [*map(_labels, runs)]
    head = [*_HEAD, "change", "labels"] if any(labels) else [*_HEAD, "change"]
    whole = [
        [*row, _change(run), label][: len(head)]
        for row, run, label in zip(rows, runs, labels, strict=True)
    ]
    table = TextTable([head, *whole], left=range(len(head)))
    if fits(table, display):
        return table
    below = [_details(run, label) for run, label in zip(runs, labels, strict=True)]
    return TextTable([_HEAD, *rows], left=range(len(_HEAD)), below=below)


def _details(run: RunEntry, labels: str) -> Part:
    change = _change(run) if run.change else ""
    text, style = change if isinstance(change, Painted) else (change, None)
    joined = "  ".join(filter(None, (text, labels)))
    return Painted(joined, style) if style else joined


def _row(run: RunEntry, name: str | None) -> list[Part]:
    version = f"@{run.version}" if run.version else ""
    return [
        f"{run.id[:_ID_LENGTH]}{f'~{run.age}' if run.age else ''} {name or ''}".rstrip(),
        status(run.verdict),
        f"{run.cases.passed:,} of {run.cases.total:,}",
        f"{run.dataset}{version}" if run.dataset else "–",
        run.created_at[:16].replace("T", " "),
    ]


def _change(run: RunEntry) -> Part:
    """Describe the difference to the run before in percentage points of passed cases."""
    change = run.change
    if change is None:
        return "–"
    if change.same_results:
        return "same results"
    points = "0 points"
    if not change.same_metrics:
        points = "other metrics"
    elif change.pass_rate is None:
        points = "not comparable"
    elif change.pass_rate:
        points = f"{'−' if change.pass_rate < 0 else '+'}{abs(change.pass_rate) * 100:.1f} points"
    if change.verdict_before != run.verdict:
        return status(run.verdict, f"{points}, was {change.verdict_before}")
    return points


def _labels(run: RunEntry) -> str:
    labels = {**run.labels}
    if "commit" in labels:
        labels["commit"] = labels["commit"][:_COMMIT_LENGTH]
    return " ".join(f"{key}={value}" for key, value in labels.items())


def format_store_verification(report: VerifyReport, display: Display = PLAIN) -> str:
    """Return each record whose digest does not match, then what was checked."""
    problems = [f"{problem.where}: {problem.message}" for problem in report.problems]
    verdict = count(len(problems), "problem") if problems else "no problems"
    checked = (
        f"{count(report.executions, 'execution')} of {count(report.runs, 'run')}, "
        f"{count(report.cases, 'case')}, {count(report.outcomes, 'outcome')}, "
        f"{count(report.contents, 'blob')} checked"
    )
    pruned = f"; {count(report.removed, 'execution')} removed by pruning" if report.removed else ""
    lines = [*problems, f"{report.store}: {verdict} ({checked}{pruned})"]
    return join_lines([*lines, f"head {report.head}"] if report.head else lines, display)


def format_export(report: TransferReport, display: Display = PLAIN) -> str:
    """Say how many runs were written."""
    return join_lines([f"{_format_transfer(report)} written to {report.store}"], display)


def format_import(report: TransferReport, display: Display = PLAIN) -> str:
    """Say how many runs were imported, and how many were in the store already."""
    known = f", {report.known:,} already stored" if report.known else ""
    return join_lines([f"{_format_transfer(report)} imported into {report.store}{known}"], display)


def _format_transfer(report: TransferReport) -> str:
    blobs = f" and {count(report.contents, 'blob')}" if report.contents else ""
    labels = f" and {count(report.labels, 'label')}" if report.labels else ""
    return f"{count(report.executions, 'run')}{blobs}{labels}"


def format_prune(report: PruneReport, display: Display = PLAIN) -> str:
    """Say how many runs were removed, or would be, and how many are left."""
    verb = "would be removed" if report.dry else "removed"
    protected = f" ({report.protected:,} protected by a label)" if report.protected else ""
    removed = f"{count(report.removed, 'run')} {verb} from {report.store}"
    return join_lines([f"{removed}, {report.kept:,} kept{protected}"], display)
