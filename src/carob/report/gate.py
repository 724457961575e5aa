"""What a gate says, as text for a person and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from carob.report import comparison
from carob.report.markdown import cell, table
from carob.report.text import count, flat, printable
from carob.schema import Gate


def text(made: Gate) -> str:
    """The answer, every check with its reason, then the comparison behind them."""
    return "\n".join(printable(line) for line in _lines(made)) + "\n"


def markdown(made: Gate) -> str:
    """For a comment on a change."""
    checks = [[one.status, one.name, one.message] for one in made.checks]
    parts = [f"### {_headline(made)}", "", *table(["check", "of", "why"], checks)]
    parts += ["", *(f"- {cell(line)}" for line in _quarantine(made))] if made.quarantined else []
    if made.comparison:
        parts += ["", comparison.markdown(made.comparison).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _lines(made: Gate) -> Iterator[str]:
    yield _headline(made)
    yield ""
    for one in made.checks:
        yield f"{one.status}  {one.name}: {one.message}"
    yield from _quarantine(made)
    if made.comparison:
        behind = [*comparison.details(made.comparison)]
        yield from ("", *behind) if behind else ()


def _headline(made: Gate) -> str:
    against = f" against {made.baseline}" if made.baseline else ""
    failed = sum(one.status == "failed" for one in made.checks)
    unsure = sum(one.status == "inconclusive" for one in made.checks)
    parts = [count(len(made.checks), "check")]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{unsure} inconclusive"] if unsure else []
    verdict = "passed" if made.passed else "failed"
    return f"{verdict}: {made.run}{against} ({', '.join(parts)})"


def _quarantine(made: Gate) -> Iterator[str]:
    for one in made.quarantined:
        yield f"in quarantine  {flat(one.case)}, until {one.expires}, {one.owner}: {one.reason}"
