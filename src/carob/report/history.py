"""The history of runs, and what was done to the store, as text for a person."""

from __future__ import annotations

from carob.report.text import columns, count, printable
from carob.schema.history import HistoryPage, PruneReport, RunEntry, TransferReport, VerifyReport

_COMMIT = 10
_HEAD = ["run", "verdict", "at", "dataset", "cases", "passed", "failed", "other"]


def text(history: HistoryPage) -> str:
    """A line for each run, newest first."""
    if not history.runs:
        return "no runs\n"
    head, *rows = columns([_HEAD, *map(_row, history.runs)])
    labels = [_labels(one) for one in history.runs]
    shown = [f"{head}  labels" if any(labels) else head]
    shown += [f"{row}  {label}".rstrip() for row, label in zip(rows, labels, strict=True)]
    if history.next:
        shown += ["", f"older ones: --start {history.next}"]
    return "\n".join(printable(line) for line in shown) + "\n"


def _row(one: RunEntry) -> list[str]:
    version = f"@{one.version}" if one.version else ""
    other = one.cases.unscored + one.cases.errors
    numbers = (one.cases.total, one.cases.passed, one.cases.failed, other)
    dataset = f"{one.dataset}{version}" if one.dataset else "–"
    return [one.id, one.verdict, one.created_at, dataset, *map(str, numbers)]


def _labels(one: RunEntry) -> str:
    shown = {**one.labels}
    if "commit" in shown:
        shown["commit"] = shown["commit"][:_COMMIT]
    return " ".join(f"{key}={value}" for key, value in shown.items())


def verification(found: VerifyReport) -> str:
    """What was checked, and each number that is not what it was."""
    lines = [f"{one.where}: {one.message}" for one in found.problems]
    verdict = count(len(found.problems), "problem") if found.problems else "all as it was written"
    checked = (
        f"{count(found.executions, 'execution')} of {count(found.runs, 'run')}, "
        f"{count(found.cases, 'case')}, {count(found.outcomes, 'outcome')}, "
        f"{count(found.contents, 'content')}"
    )
    return (
        "\n".join(printable(line) for line in [*lines, f"{found.store}: {verdict} ({checked})"])
        + "\n"
    )


def exported(made: TransferReport) -> str:
    """How much is in the file."""
    what = _what(made)
    return printable(f"{what} written to {made.store}") + "\n"


def imported(made: TransferReport) -> str:
    """How much came in, and how much was there."""
    known = f", {made.known:,} already there" if made.known else ""
    return printable(f"{_what(made)} taken into {made.store}{known}") + "\n"


def _what(made: TransferReport) -> str:
    contents = f" and {count(made.contents, 'content')}" if made.contents else ""
    return f"{count(made.executions, 'run')}{contents}"


def pruned(made: PruneReport) -> str:
    """What is gone, or would be, and what is left."""
    verb = "would be removed" if made.dry else "removed"
    protected = f", {made.protected:,} of them only for their label" if made.protected else ""
    text = f"{count(made.removed, 'run')} {verb} from {made.store}, {made.kept:,} kept{protected}"
    return printable(text) + "\n"
