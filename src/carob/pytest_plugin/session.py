"""From the first marker on: tests from cases, and what each of them gave."""

from __future__ import annotations

from collections.abc import Generator
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from carob.api import history, suite_runs, testing
from carob.api.load import load
from carob.errors import CarobError, UsageError
from carob.pytest_plugin.arguments import Arguments, arguments
from carob.pytest_plugin.fixture import Given, Golden
from carob.schema import Dataset

_GOLDEN = pytest.StashKey[Golden]()


class Session:
    """The golden data of a test session; every process reads it once."""

    def __init__(self, config: pytest.Config) -> None:
        # Without a configuration, pytest takes the folder of the tests for the root.
        self._root = config.rootpath if config.inipath else config.invocation_params.dir
        self._recording = any(map(config.getoption, ("--carob-run", "--carob-store")))
        self._datasets: dict[Path, Dataset] = {}
        self._suites: list[tuple[pytest.Mark, Arguments, testing.Suite]] = []
        self._heads: dict[int, suite_runs.Head] = {}
        self._told: set[str] = set()

    def generate(self, metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
        """One test for each case, under its id."""
        try:
            _only(metafunc)
            asked, suite = self._suite(mark)
        except CarobError as error:
            hint = f"\n\nhint: {error.hint}" if error.hint else ""
            raise pytest.Collector.CollectError(f"pytest.mark.golden: {error}{hint}") from error
        if "golden" not in metafunc.fixturenames:
            metafunc.fixturenames.append("golden")
        given = [Given(suite, asked, case) for case in suite.cases]
        ids = [case.id for case in suite.cases]
        metafunc.parametrize("golden", given, ids=ids, indirect=True, scope="function")

    def pytest_sessionfinish(self) -> None:
        for _, _, suite in self._suites:
            suite.close()

    def golden(self, item: pytest.Item) -> Golden:
        """The case of a test."""
        return item.stash[_GOLDEN]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        spec = getattr(item, "callspec", None)
        given = spec.params.get("golden") if spec else None
        if isinstance(given, Given):
            item.stash[_GOLDEN] = Golden(given, item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        result = yield
        golden = pyfuncitem.stash.get(_GOLDEN, None)
        if golden:
            golden.finish()
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        golden = item.stash.get(_GOLDEN, None)
        if golden and (report.when == "call" or (report.when == "setup" and not report.passed)):
            if report.failed and golden.results and not golden.told:
                text = "\n\n".join(testing.Scores(one).text for one in golden.results)
                report.sections.append(("carob", text))
            if self._recording:
                self._record(golden, report, call)
        return report

    def _record(
        self, golden: Golden, report: pytest.TestReport, call: pytest.CallInfo[None]
    ) -> None:
        """What is to be recorded travels with the report, to whatever process writes the run."""
        results = golden.results or [golden.unanswered(*_ending(report, call))]
        head = self._head(golden.suite)
        made = suite_runs.record(
            golden.suite, golden.case, results, node=report.nodeid, head=head.key
        )
        vars(report).update(carob=msgspec.json.encode(made).decode(), carob_head=self._news(head))

    def _suite(self, mark: pytest.Mark) -> tuple[Arguments, testing.Suite]:
        for known, asked, suite in self._suites:
            if known is mark:  # one marker for a class or a module
                return asked, suite
        asked = arguments(mark)
        config = self._root / "carob.toml"
        config = config if config.is_file() else None
        suite = testing.suite(
            self._dataset(asked.golden),
            traces=[self._root / path for path in asked.traces],
            metrics=asked.metrics,
            thresholds=asked.thresholds,
            params=asked.params,
            profile=asked.profile,
            where=asked.where,
            tags=asked.tags,
            config=config,
            judge=asked.judge,
            answers=history.store_place(config=config),
        )
        self._suites.append((mark, asked, suite))
        if self._recording:
            suite_runs.together([suite for _, _, suite in self._suites])
        return asked, suite

    def _dataset(self, golden: str | PathLike[str] | Dataset) -> Dataset:
        if isinstance(golden, Dataset):
            return golden
        path = self._root / golden
        if path not in self._datasets:
            self._datasets[path] = load(path)
        return self._datasets[path]

    def _head(self, suite: testing.Suite) -> suite_runs.Head:
        """Made once, when the recordings have been read."""
        if id(suite) not in self._heads:
            self._heads[id(suite)] = suite_runs.Head.of(suite)
        return self._heads[id(suite)]

    def _news(self, head: suite_runs.Head) -> str | None:
        """The head, with the first report of this process that needs it."""
        if head.key in self._told:
            return None
        self._told.add(head.key)
        return msgspec.json.encode(head).decode()


def _only(metafunc: pytest.Metafunc) -> None:
    marks = [mark for mark in metafunc.definition.own_markers if mark.name == "golden"]
    if len(marks) > 1:
        raise UsageError("found two markers on one test", hint="write a test for each dataset")


def _ending(
    report: pytest.TestReport, call: pytest.CallInfo[None]
) -> tuple[Literal["unscored", "error"], str]:
    """Why a test ended before anything was scored."""
    if report.skipped:
        return "unscored", "the test was skipped"
    name = call.excinfo.typename if call.excinfo else "nothing"
    return "error", f"the test ended with {name}"
