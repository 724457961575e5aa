"""What all commands share: where results go, and in which form."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

from carob.files.atomic import replace
from carob.report.text import printable
from carob.schema import Problem
from carob.schema.problem import ProgressListener

F = TypeVar("F", bound=Callable[..., object])


def output_options(*formats: str) -> Callable[[F], F]:
    """`--format` and `-o`, which every command that prints a result has."""

    def decorate(command: F) -> F:
        chosen = click.option(
            "--format",
            "form",
            type=click.Choice(["text", "json", *formats]),
            default="text",
            show_default=True,
            help="Form of the result on stdout.",
        )
        file = click.option(
            "-o",
            "--output",
            type=click.Path(dir_okay=False, path_type=Path),
            help="Write the result to a file instead.",
        )
        return chosen(file(command))

    return decorate


def pairs(given: Iterable[str]) -> dict[str, str]:
    """What options such as `--threshold METRIC=NUMBER` say."""
    made: dict[str, str] = {}
    for pair in given:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise click.UsageError(f"Found {pair!r}, expected NAME=VALUE.")
        made[name] = value
    return made


def emit(text: str, output: Path | None) -> None:
    """A finished result, to stdout or to a file; `-` is stdout, as elsewhere."""
    if output and output.name != "-":
        replace(output, text.encode())
    else:
        click.echo(text, nl=False)


def show_problem(problem: Problem) -> None:
    """Something that is not as it should be, but does not stop the work, on stderr."""
    hint = f" ({problem.hint})" if problem.hint else ""
    text = printable(f"{problem.where}: {problem.message}{hint}")
    click.echo(f"{click.style(f'{problem.severity}:', fg='yellow', bold=True)} {text}", err=True)


PATIENCE = 1.0
"""Seconds of work that nobody wants to be told of."""


class ProgressLine:
    """How far long work is, in one line of the terminal that is gone when it is done."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._shown = False

    def of(self, step: str, unit: int = 1, name: str = "") -> ProgressListener:
        """The progress of one step, counted in units of that name."""

        def progress(done: int, total: int) -> None:
            if sys.stderr.isatty() and time.monotonic() - self._started > PATIENCE:
                self._shown = True
                told = f"{step} {done // unit:,} of {total // unit:,}{name}"
                click.echo(f"\r\x1b[K{told}", err=True, nl=False)

        return progress

    @property
    def reading(self) -> ProgressListener:
        """The progress of reading, which is told in bytes."""
        return self.of("reading", 10**6, " MB")

    def report(self, problem: Problem) -> None:
        """A problem, in a line of its own."""
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
