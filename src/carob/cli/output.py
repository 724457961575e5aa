"""Where results, problems and progress go: stdout, a file, or stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from carob.files.atomic import check_overwrite, write_atomic
from carob.report.text import printable
from carob.schema import Problem
from carob.schema.problem import ProgressListener


def emit(text: str, output: Path | None, *, overwrite: bool = True, styled: bool = False) -> None:
    """Write a result to stdout or to a file; `-` is stdout.

    A file and a pipe get the same bytes. On a terminal, control characters are shown as their
    codes, because the text of an agent must not move the cursor; `styled` text has colors of ours.
    """
    if output and output.name != "-":
        if not overwrite:
            check_overwrite(output, text.encode())
        write_atomic(output, text.encode())
    elif styled:
        click.echo(text, nl=False)
    elif sys.stdout.isatty():
        click.echo(printable(text.replace("\r\n", "\n")), nl=False)
    else:
        click.echo(text.encode(), nl=False)  # as bytes, because click removes codes from text


def show_problem(problem: Problem) -> None:
    """Print a problem that does not stop the command to stderr."""
    hint = f" ({problem.hint})" if problem.hint else ""
    text = printable(f"{problem.where}: {problem.message}{hint}")
    click.echo(f"{click.style(f'{problem.severity}:', fg='yellow', bold=True)} {text}", err=True)


def show_metrics(chosen: object) -> None:
    """Print which metrics were chosen, and why, to stderr."""
    click.echo(printable(str(chosen)), err=True)


PROGRESS_DELAY = 1.0
"""Seconds before progress is shown."""


class ProgressLine:
    """The progress of a long command, on one line of the terminal that is cleared at the end."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = False

    def of(self, step: str, unit: int = 1, name: str = "") -> ProgressListener:
        """Return a listener for the progress of one step, counted in named units."""

        def progress(done: int, total: int) -> None:
            if sys.stderr.isatty() and time.monotonic() - self._started > PROGRESS_DELAY:
                self._shown = True
                text = f"{step} {done // unit:,} of {total // unit:,}{name}"
                click.echo(f"\r\x1b[K{text}", err=True, nl=False)

        return progress

    @property
    def reading(self) -> ProgressListener:
        """A listener for the progress of reading, in megabytes."""
        return self.of("reading", 10**6, " MB")

    def report(self, problem: Problem) -> None:
        """Print a problem on its own line."""
        self.close()
        show_problem(problem)

    def close(self) -> None:
        if self._shown:
            self._shown = False
            click.echo("\r\x1b[K", err=True, nl=False)


@contextmanager
def progress_line() -> Generator[ProgressLine]:
    line = ProgressLine()
    try:
        yield line
    finally:
        line.close()
