"""The run history, and operations on the store, as text."""

from __future__ import annotations

from carob.report.text import columns, count, join_lines, printable
from carob.schema.history import HistoryPage, PruneReport, RunEntry, TransferReport, VerifyReport

_COMMIT_LENGTH = 10
_HEAD = ["run", "verdict", "created", "dataset", "cases", "passed", "failed", "other"]


def format_history(history: HistoryPage) -> str:
    """Return a line for each run, newest first."""
    if not history.runs:
        return "no runs\n"
    head, *rows = columns([_HEAD, *map(_row, history.runs)])
    labels = [_labels(run) for run in history.runs]
    lines = [f"{head}  labels" if any(labels) else head]
    lines += [f"{row}  {label}".rstrip() for row, label in zip(rows, labels, strict=True)]
    if history.next:
        lines += ["", f"next page: --start {history.next}"]
    return join_lines(lines)


def _row(run: RunEntry) -> list[str]:
    version = f"@{run.version}" if run.version else ""
    other = run.cases.total - run.cases.passed - run.cases.failed
    numbers = (run.cases.total, run.cases.passed, run.cases.failed, other)
    dataset = f"{run.dataset}{version}" if run.dataset else "–"
    return [run.id, run.verdict, run.created_at, dataset, *map(str, numbers)]


def _labels(run: RunEntry) -> str:
    labels = {**run.labels}
    if "commit" in labels:
        labels["commit"] = labels["commit"][:_COMMIT_LENGTH]
    return " ".join(f"{key}={value}" for key, value in labels.items())


def format_store_verification(report: VerifyReport) -> str:
    """Return each record whose digest does not match, then what was checked."""
    problems = [f"{problem.where}: {problem.message}" for problem in report.problems]
    verdict = count(len(problems), "problem") if problems else "no problems"
    checked = (
        f"{count(report.executions, 'execution')} of {count(report.runs, 'run')}, "
        f"{count(report.cases, 'case')}, {count(report.outcomes, 'outcome')}, "
        f"{count(report.contents, 'blob')}"
    )
    return join_lines([*problems, f"{report.store}: {verdict} ({checked} checked)"])


def format_export(report: TransferReport) -> str:
    """Say how many runs were written."""
    return printable(f"{_transferred(report)} written to {report.store}") + "\n"


def format_import(report: TransferReport) -> str:
    """Say how many runs were imported, and how many were in the store already."""
    known = f", {report.known:,} already stored" if report.known else ""
    return printable(f"{_transferred(report)} imported into {report.store}{known}") + "\n"


def _transferred(report: TransferReport) -> str:
    blobs = f" and {count(report.contents, 'blob')}" if report.contents else ""
    return f"{count(report.executions, 'run')}{blobs}"


def format_prune(report: PruneReport) -> str:
    """Say how many runs were removed, or would be, and how many are left."""
    verb = "would be removed" if report.dry else "removed"
    protected = f" ({report.protected:,} protected by a label)" if report.protected else ""
    removed = f"{count(report.removed, 'run')} {verb} from {report.store}"
    return printable(f"{removed}, {report.kept:,} kept{protected}") + "\n"
