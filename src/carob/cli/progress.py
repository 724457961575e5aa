"""The progress of long commands: one line of the terminal, cleared before anything else is shown.

Nothing is printed in pipes, and nothing by commands that take less than a second.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

import click
import msgspec

from carob.cli.output import show_problem
from carob.report.width import cut_text
from carob.schema import LiveEvent, Problem
from carob.schema.problem import ProgressListener

DELAY = 1.0
"""Seconds before progress is shown."""
_INTERVAL = 0.1
"""Seconds between two updates: a terminal is slower than a loop."""
_BAR_WIDTH = 20
_MINUTE, _HOUR = 60, 3600


class Step(NamedTuple):
    """A step of which the amount of work is known."""

    name: str
    unit: int
    """Number of items that are counted as one, such as the bytes of a megabyte."""
    unit_name: str
    first: int
    """The amount already done when the step was first reported: of a resumed run, for example."""
    started: float

    def describe(self, done: int, total: int, now: float) -> str:
        """Return a bar, the amount that is done, the rate and the time left."""
        share = min(done / total, 1.0) if total else 1.0
        filled = round(share * _BAR_WIDTH)
        bar = "━" * filled + "┄" * (_BAR_WIDTH - filled)
        text = f"{self.name} {bar} {done // self.unit:,} of {total // self.unit:,}{self.unit_name}"
        rate = (done - self.first) / (now - self.started) if now > self.started else 0.0
        if not rate:
            return text
        left = format_duration((total - done) / rate)
        return f"{text}, {_format_rate(rate / self.unit)}{self.unit_name}/s, {left} left"


def _format_rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def format_duration(seconds: float) -> str:
    """Return a duration in the largest units that matter: `12 s`, `3 min 20 s`, `2 h 5 min`."""
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    if whole < _HOUR:
        return f"{whole // _MINUTE} min {whole % _MINUTE} s"
    return f"{whole // _HOUR:,} h {whole % _HOUR // _MINUTE} min"


def describe_live(event: LiveEvent) -> str:
    """Return the attempts that are finished, how many failed, the cost so far and the time left."""
    share = event.done / event.total if event.total else 1.0
    filled = round(share * _BAR_WIDTH)
    bar = "━" * filled + "┄" * (_BAR_WIDTH - filled)
    parts = [f"asking the agent {bar} {event.done:,} of {event.total:,} attempts"]
    parts += [f"{event.failed:,} failed"] if event.failed else []
    parts += [f"${event.cost:,.2f}"] if event.cost else []
    parts += [f"{format_duration(event.eta_s)} left"] if event.eta_s is not None else []
    return ", ".join(parts)


def show_event(event: LiveEvent) -> None:
    """Print an event of a live run as a JSON line on stderr, for programs."""
    click.echo(msgspec.json.encode(event), err=True)


class ProgressLine:
    """The progress of a command: its task and the time so far, or the progress of one step."""

    def __init__(self, task: str) -> None:
        self._task = task
        self._started = time.monotonic()
        self._updated = 0.0
        self._reported = False
        self._shown = False
        self._lock = threading.Lock()  # the clock of a step without numbers is another thread
        self._closed = threading.Event()

    def of(self, name: str, unit: int = 1, unit_name: str = "") -> ProgressListener:
        """Return a listener for the progress of one step, counted in named units."""
        step: Step | None = None
        latest = 0

        def progress(done: int, total: int) -> None:
            nonlocal step, latest
            now = time.monotonic()
            if step is None or done < latest:  # the next file, or another pass
                step = Step(name, unit, unit_name, done, now)
            latest = done
            self._reported = True
            if now - self._updated >= _INTERVAL or done == total:
                self._show(step.describe(done, total, now), now)

        return progress

    @property
    def reading(self) -> ProgressListener:
        """A listener for the progress of reading, in megabytes."""
        return self.of("reading", 10**6, " MB")

    def live(self, event: LiveEvent) -> None:
        """Show where a live run stands, and each conversation that broke off on its own line."""
        if event.error is not None:
            where = f"{event.case}, attempt {event.attempt}"
            self.report(Problem(where=where, message=event.error, severity="warning"))
        self._reported = True
        now = time.monotonic()
        if now - self._updated >= _INTERVAL or event.done == event.total:
            self._show(describe_live(event), now)

    def tick(self) -> None:
        """Show the time so far, every second until the line is closed, if no step has numbers."""
        while not self._closed.wait(DELAY):
            if not self._reported:
                now = time.monotonic()
                self._show(f"{self._task}, {format_duration(now - self._started)}", now)

    def _show(self, text: str, now: float) -> None:
        with self._lock:
            if sys.stderr.isatty() and now - self._started > DELAY and not self._closed.is_set():
                self._shown, self._updated = True, now
                import shutil  # late: it loads compressors

                width = shutil.get_terminal_size().columns - 1
                click.echo(f"\r\x1b[K{cut_text(text, width)}", err=True, nl=False)

    def report(self, problem: Problem) -> None:
        """Print a problem on its own line."""
        self._clear()
        show_problem(problem)

    def close(self) -> None:
        """Clear the line for good."""
        self._closed.set()
        self._clear()

    def _clear(self) -> None:
        with self._lock:
            if self._shown:
                self._shown = False
                click.echo("\r\x1b[K", err=True, nl=False)


@contextmanager
def progress_line(task: str) -> Generator[ProgressLine]:
    """Show the progress of a task on terminals until the block ends."""
    line = ProgressLine(task)
    if sys.stderr.isatty():
        threading.Thread(target=line.tick, daemon=True).start()
    try:
        yield line
    finally:
        line.close()
