"""Problems in files as lines of a report."""

from __future__ import annotations

from collections.abc import Iterator

from carob.report.layout import Block, line, status
from carob.schema import Problem


def problem_lines(problem: Problem, indent: str = "") -> Iterator[Block]:
    """Yield a problem with its severity and location, then its hint."""
    where = f"{problem.where}: " if problem.where else ""
    yield line(indent, status(problem.severity), f": {where}{problem.message}")
    yield from hint_lines(problem.hint, f"{indent}  ")


def hint_lines(hint: str | None, indent: str) -> Iterator[Block]:
    """Yield a hint, which may have several lines."""
    if hint:
        first, *others = hint.splitlines()
        yield line(indent, status("hint"), f": {first}")
        yield from (f"{indent}{text}" for text in others)
