"""Results as text for a person. What comes from files is shown as it is, but cannot command the
terminal: control characters are shown by their codes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from carob.schema import Conversion, DatasetSummary, Loss, Problem, Severity, Validation

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAK = re.compile(r"[\t-\r\x1c-\x1e\x85\u2028\u2029]+")
_SHOWN = 20
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def printable(text: str) -> str:
    """The text without the power to move the cursor, change colours or reverse the line."""
    return _CONTROL.sub(lambda found: _code(ord(found[0])), text)


def _code(number: int) -> str:
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def flat(text: str) -> str:
    """A name in one line: what it says after a line break could pass for a line of ours."""
    return printable(_BREAK.sub(" ", text))


def validations(found: Iterable[Validation]) -> str:
    """Each file with its verdict, then its problems."""
    return "".join(f"{line}\n" for one in found for line in _validation(one))


def _validation(one: Validation) -> Iterator[str]:
    form = f"{one.format}, {count(one.cases, 'case')}" if one.format else "unknown format"
    verdict = "valid" if one.valid else "not valid"
    counts = Counter(problem.severity for problem in one.problems)
    found = "".join(f", {count(counts[word], word)}" for word in _SEVERITIES if counts[word])
    yield printable(f"{one.path}: {verdict} ({form}{found})")
    for problem in one.problems:
        yield from _problem(problem)


def _problem(problem: Problem) -> Iterator[str]:
    where = f"{problem.where}: " if problem.where else ""
    yield printable(f"  {problem.severity}: {where}{problem.message}")
    if problem.hint:
        yield from (printable(f"    hint: {line}") for line in problem.hint.splitlines()[:1])
        yield from (printable(f"    {line}") for line in problem.hint.splitlines()[1:])


def summary(made: DatasetSummary) -> str:
    """What a dataset is made of."""
    version = f" {made.version}" if made.version else ""
    lines = [
        flat(f"{made.name}{version}"),
        *_named(
            {
                "format": made.format or "none",
                "cases": str(made.cases),
                "with context": str(made.with_context),
                "with recording": str(made.with_recording),
                "turns": f"{made.turns}, {count(made.multi_turn, 'case')} with several",
                "tags": _counted(made.tags),
                "tools": _counted(made.tools),
                "agents": _counted(made.agents),
                "metadata": _counted(made.metadata),
            }
        ),
    ]
    return "\n".join(lines) + "\n"


def written(path: Path, part: DatasetSummary) -> str:
    """What a subset holds, and where it is."""
    return printable(f"{count(part.cases, 'case')} written to {path}") + "\n"


def conversion(made: Conversion) -> str:
    """What was converted, and field by field what the target has no place for."""
    lines = [f"{made.source} → {made.target}: {count(made.cases, 'case')}"]
    if not made.losses:
        lines.append("nothing is lost")
    else:
        kept = "carried along for the way back" if made.carried else "lost"
        lines.append(f"{made.target} has no place for {count(len(made.losses), 'field')}, {kept}:")
        lines.extend(_losses(made.losses))
    return "\n".join(printable(line) for line in lines) + "\n"


def _losses(losses: tuple[Loss, ...]) -> Iterator[str]:
    by_case: dict[str | None, list[str]] = {}
    for loss in losses:
        by_case.setdefault(loss.case, []).append(loss.field)
    for case, fields in list(by_case.items())[:_SHOWN]:
        yield f"  {'the dataset' if case is None else flat(case)}: {', '.join(fields)}"
    if len(by_case) > _SHOWN:
        yield f"  and {len(by_case) - _SHOWN} more cases; all are in --format json"


def _named(rows: dict[str, str]) -> Iterator[str]:
    width = max(map(len, rows))
    return (printable(f"  {name:<{width}}  {value}") for name, value in rows.items())


def _counted(counts: dict[str, int]) -> str:
    shown = [f"{flat(name)} ({number})" for name, number in list(counts.items())[:_SHOWN]]
    more = [f"and {len(counts) - _SHOWN} more"] if len(counts) > _SHOWN else []
    return ", ".join(shown + more) or "none"


def count(number: int, noun: str) -> str:
    """A number of things: `1 case`, `2 cases`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def columns(rows: list[list[str]]) -> Iterator[str]:
    """Rows with their first column to the left, the others to the right."""
    rows = [[flat(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
        yield "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def shortened(text: str, width: int = 88) -> str:
    """The text in one line, cut where it is too long for one."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def markdown_table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """A table, line by line."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(map(markdown_cell, row))} |"


_MARKS = str.maketrans({char: f"\\{char}" for char in "\\|<>[]`*_!&#"} | {"@": "@\u200b"})
"""A code host looks for names to notify after it has read the Markdown, so that a backslash does
not help there; a blank of no width does."""


def markdown_cell(value: str) -> str:
    """Agents' text is data: nothing in it becomes a link, a tag or the end of a cell, or calls
    somebody."""
    flat = " ".join(printable(value).split()).translate(_MARKS)
    return flat.replace("://", "\\://").replace("www.", "www\\.")
