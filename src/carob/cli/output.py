"""Where results and problems go: stdout, a file, or stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypeVar

import click
import msgspec

from carob.cli.color import use_color
from carob.errors import CarobError
from carob.files.atomic import atomic_writer, check_overwrite, write_atomic
from carob.files.stdin import hide_copy
from carob.report import json_parts
from carob.report.forms import ReportInputs, format_report, report_parts
from carob.report.layout import PLAIN, Block, Display, join_lines, line, status
from carob.report.text import printable
from carob.schema import CaseResult, Problem
from carob.schema.problem import WatchedSequence

T = TypeVar("T")

_MIN_WIDTH = 40
_PART_SIZE = 1 << 18
"""Characters that are written at once."""


def emit_result(
    result: object,
    form: str,
    output: Path | None,
    text: Callable[[Display], str],
    **forms: Callable[[], str],
) -> None:
    """Write a result as text, as JSON, or in one of the other forms."""
    if form == "text":
        emit_text(text(display(output)), output)
    elif form == "json":
        emit_parts(json_parts(result), output)
    else:
        emit(forms[form](), output)


def emit_report(form: str, inputs: ReportInputs, output: Path | None) -> None:
    """Write a run in one of its forms."""
    if form != "text":
        emit_cases(inputs.run.cases, lambda cases: report_parts(form, _with(inputs, cases)), output)
        return
    with _watch_cases(inputs.run.cases) as cases:
        text = format_report(form, _with(inputs, cases)._replace(display=display(output)))
    emit_text(text, output)


def _with(inputs: ReportInputs, cases: Sequence[CaseResult]) -> ReportInputs:
    return inputs._replace(run=msgspec.structs.replace(inputs.run, cases=cases))


def emit_cases(
    cases: Sequence[T], render: Callable[[Sequence[T]], Iterable[str]], output: Path | None
) -> None:
    """Write what is rendered of cases, part by part, and show how many are written."""
    if not _is_file(output) and sys.stdout.isatty():
        # Parts that go to the terminal show how far they are, and a line would break them.
        emit_parts(render(cases), output)
        return
    with _watch_cases(cases) as watched:
        emit_parts(render(watched), output)


@contextmanager
def _watch_cases(cases: Sequence[T]) -> Generator[Sequence[T]]:
    # Late: progress shows problems with this module.
    from carob.cli.progress import progress_line

    with progress_line("writing the report") as line:
        is_shown = sys.stderr.isatty()
        progress = line.of("writing", unit_name=" cases")
        yield WatchedSequence(cases, progress) if is_shown else cases


def emit_parts(parts: Iterable[str], output: Path | None) -> None:
    """Write a result whose parts are made while they are written."""
    if output and _is_file(output):
        with atomic_writer(output) as file:
            for text in _join_parts(parts):
                file.write(hide_copy(text).encode())
    else:
        for text in _join_parts(parts):
            emit(text, None)


def _join_parts(parts: Iterable[str]) -> Iterator[str]:
    """Yield larger parts, because writing each has a price."""
    size, joined = 0, list[str]()
    for part in parts:
        joined.append(part)
        size += len(part)
        if size > _PART_SIZE:
            yield "".join(joined)
            size = 0
            joined.clear()
    yield "".join(joined)


def display(output: Path | None) -> Display:
    """Return the terminal that text is laid out for. A file and a pipe get the same bytes, unless
    the environment forces colors."""
    return PLAIN if _is_file(output) else _stream_display(sys.stdout)


def _stream_display(stream: TextIO) -> Display:
    return Display(_terminal_width() if stream.isatty() else None, use_color(stream))


def _terminal_width() -> int:
    import shutil  # late: it loads compressors

    return max(shutil.get_terminal_size().columns, _MIN_WIDTH)


def _is_file(output: Path | None) -> bool:
    return output is not None and output.name != "-"


def emit_text(text: str, output: Path | None) -> None:
    """Write a text report, which may have colors and no other control characters."""
    if _is_file(output) or not use_color(sys.stdout):
        emit(text, output)
    else:
        click.echo(hide_copy(text), nl=False, color=True)


def emit(text: str, output: Path | None, *, overwrite: bool = True) -> None:
    """Write a result to stdout or to a file; `-` is stdout.

    A file and a pipe get the same bytes. On a terminal, control characters are shown as their
    codes, because the text of an agent must not move the cursor.
    """
    text = hide_copy(text)
    if output and _is_file(output):
        if not overwrite:
            check_overwrite(output, text.encode())
        write_atomic(output, text.encode())
    elif sys.stdout.isatty():
        click.echo(printable(text.replace("\r\n", "\n")), nl=False)
    else:
        click.echo(text.encode(), nl=False)  # as bytes, because click removes codes from text


def show_lines(*blocks: Block) -> None:
    """Print lines to stderr."""
    terminal = _stream_display(sys.stderr)
    text = hide_copy(join_lines(blocks, terminal))
    click.echo(text, err=True, nl=False, color=terminal.color)


def show_error(error: CarobError) -> None:
    """Print the error, a blank line and the hint to stderr."""
    show_lines(line(status("error"), f": {error}"))
    if error.hint:
        show_lines("", line(status("hint"), f": {error.hint}"))


def show_problem(problem: Problem) -> None:
    """Print a problem that does not stop the command to stderr."""
    hint = f" ({problem.hint})" if problem.hint else ""
    where = f"{problem.where}: " if problem.where else ""
    show_lines(line(status(problem.severity), f": {where}{problem.message}{hint}"))


def show_metrics(chosen: object) -> None:
    """Print which metrics were chosen, and why, to stderr."""
    show_lines(str(chosen))
