"""`--carob-run FILE` and `--carob-store URL`: the tests of all processes as one run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from carob.api.running.suite_runs import CaseTest, SuiteInfo, merge_tests
from carob.api.store import git_labels, save_run
from carob.errors import CarobError
from carob.files.atomic import write_atomic
from carob.report import format_json
from carob.report.run import headline, metrics_without_scores
from carob.report.text import printable
from carob.schema import Run
from carob.schema.base import prepare_type


class Recorder:
    """Collects the results of tests and writes them as a run at the end of the session."""

    def __init__(self, file: Path | None, store: str | None) -> None:
        if file and not file.parent.is_dir():
            raise pytest.UsageError(f"--carob-run {file}: the folder does not exist")
        self._file, self._store = file, store
        self._suites: dict[str, SuiteInfo] = {}
        self._tests: dict[str, CaseTest] = {}
        self._lines: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        suite: str | None = getattr(report, "carob_suite", None)
        if suite:
            info = msgspec.json.decode(suite, type=prepare_type(SuiteInfo))
            self._suites[info.key] = info
        text: str | None = getattr(report, "carob_test", None)
        if text:  # the last attempt of a test that is retried counts
            test = msgspec.json.decode(text, type=prepare_type(CaseTest))
            self._tests[test.node] = test

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the run, even an empty one: a file from an earlier session must not pass for it."""
        try:
            run = merge_tests(self._suites, self._tests.values())
            self._lines = [*self._problems(run), f"{run.verdict}: {headline(run)}"]
            self._lines += [metric.text for metric in metrics_without_scores(run)]
            self._lines += self._write(run)
        except CarobError as error:
            self._lines += [f"error: {error}"]
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("carob")
        for line in self._lines:
            terminalreporter.write_line(printable(line))

    def _write(self, run: Run) -> Iterator[str]:
        if self._file:
            write_atomic(self._file, format_json(run).encode())
            yield f"written to {self._file}"
        if self._store:
            save_run(run, store=self._store, labels=git_labels({}))
            yield "saved in the store"

    def _problems(self, run: Run) -> Iterator[str]:
        """Yield problems with the traces that do not belong to any test."""
        problems = (problem for info in self._suites.values() for problem in info.problems)
        for problem in dict.fromkeys(problems):
            yield f"{problem.severity}: {problem.where}: {problem.message}"
        for trace in run.unmatched:
            yield f"trace {trace.trace} has no case: {trace.why}"
