"""`--carob-run FILE`, `--carob-store PLACE`: what was scored, in whichever process, as one run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from carob.api import history, suite_runs
from carob.errors import CarobError
from carob.files.atomic import replace
from carob.report import render
from carob.report.run import headline
from carob.report.text import printable
from carob.schema import Run


class Recorder:
    """Collects what the tests gave, and writes it when all of them are over."""

    def __init__(self, file: Path | None, store: str | None) -> None:
        if file and not file.parent.is_dir():
            raise pytest.UsageError(f"--carob-run {file}: the folder does not exist")
        self._file, self._store = file, store
        self._heads: dict[str, suite_runs.Head] = {}
        self._records: dict[str, suite_runs.Record] = {}
        self._lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        head: str | None = getattr(report, "carob_head", None)
        if head:
            known = msgspec.json.decode(head, type=suite_runs.Head)
            self._heads[known.key] = known
        text: str | None = getattr(report, "carob", None)
        if text:  # a test that is run again counts as it ended
            one = msgspec.json.decode(text, type=suite_runs.Record)
            self._records[one.node] = one

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """An empty run is written too: what is left from the last time must not pass for this."""
        try:
            made = suite_runs.session_run(self._heads, self._records.values())
            self._lines = [*self._asides(made), f"{made.verdict}: {headline(made)}"]
            self._lines += self._written(made)
        except CarobError as error:
            self._lines += [f"error: {error}"]
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("carob")
        for line in self._lines:
            terminalreporter.write_line(printable(line))

    def _written(self, made: Run) -> Iterator[str]:
        if self._file:
            replace(self._file, render(made, "json", {}).encode())
            yield f"written to {self._file}"
        if self._store:
            history.keep_run(made, store=self._store, labels=history.own_labels({}))
            yield "kept in the store"

    def _asides(self, made: Run) -> Iterator[str]:
        """What is wrong with the recordings, but is no test."""
        for one in dict.fromkeys(one for head in self._heads.values() for one in head.problems):
            yield f"{one.severity}: {one.where}: {one.message}"
        for one in made.unmatched:
            yield f"trace {one.trace} has no case: {one.why}"
