"""Tests from golden cases, and the results of each. Imported when a test carries the marker."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from os import PathLike
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from carob.api.load import load
from carob.api.running.suite_runs import SuiteInfo, check_mergeable, record_test
from carob.api.store import store_url
from carob.api.testing import Scores, Suite, suite
from carob.errors import CarobError, InputError, UsageError
from carob.pytest_plugin.arguments import Arguments, parse_marker
from carob.pytest_plugin.fixture import Golden, GoldenTest
from carob.schema import Dataset

_GOLDEN = pytest.StashKey[Golden]()


def _describe_rules(opened: Suite) -> Iterator[str]:
    if opened.chosen:
        yield f"{opened.dataset.name}: {opened.chosen}"
    for problem in opened.idle_rules:
        yield f"{opened.dataset.name}: {problem.severity}: {problem.message}"


class GoldenSession:
    """The golden data of a test session. Each process reads it once."""

    def __init__(self, config: pytest.Config) -> None:
        # Without a configuration file, pytest takes the folder of the tests for the root.
        self._root = config.rootpath if config.inipath else config.invocation_params.dir
        self._writes_run = any(map(config.getoption, ("--carob-run", "--carob-store")))
        self._trust_config = bool(config.getoption("--carob-trust-config"))
        self._datasets: dict[Path, Dataset] = {}
        self._suites: list[tuple[pytest.Mark, Arguments, Suite]] = []
        self._infos: dict[int, SuiteInfo] = {}
        self._sent: set[str] = set()

    def generate(self, metafunc: pytest.Metafunc, mark: pytest.Mark) -> None:
        """Parametrize a test function with the cases of its dataset, under their ids."""
        try:
            _check_single_marker(metafunc)
            arguments, selected = self._suite(mark)
            if not selected.cases:  # pytest would skip the test, and the session would pass
                raise InputError(f"{selected.dataset.name} has no cases")
        except CarobError as error:
            hint = f"\n\nhint: {error.hint}" if error.hint else ""
            raise pytest.Collector.CollectError(f"pytest.mark.golden: {error}{hint}") from error
        if "golden" not in metafunc.fixturenames:
            metafunc.fixturenames.append("golden")
        cases = [GoldenTest(selected, arguments, case) for case in selected.cases]
        ids = [case.id for case in selected.cases]
        metafunc.parametrize("golden", cases, ids=ids, indirect=True, scope="function")

    def pytest_report_collectionfinish(self, config: pytest.Config) -> list[str]:
        """Say which metrics were chosen for markers that name none, and why; and what decides
        nothing."""
        if config.get_verbosity() < 0:
            return []
        lines = [line for _, _, opened in self._suites for line in _describe_rules(opened)]
        return list(dict.fromkeys(lines))

    def pytest_sessionfinish(self) -> None:
        for _, _, opened in self._suites:
            opened.close()

    def golden(self, item: pytest.Item) -> Golden:
        """Return the fixture of a test."""
        return item.stash[_GOLDEN]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        spec = getattr(item, "callspec", None)
        parameter = spec.params.get("golden") if spec else None
        if isinstance(parameter, GoldenTest):
            item.stash[_GOLDEN] = Golden(parameter, item.nodeid)

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
            if report.failed and golden.results and not golden.explained:
                text = "\n\n".join(Scores(result).text for result in golden.results)
                report.sections.append(("carob", text))
            if self._writes_run:
                self._record(golden, report, call)
        return report

    def _record(
        self, golden: Golden, report: pytest.TestReport, call: pytest.CallInfo[None]
    ) -> None:
        """Attach the results to the report, which reaches the process that writes the run."""
        results = golden.results or [golden.without_answer(*_explain_end(report, call))]
        info = self._info(golden.suite)
        test = record_test(golden.suite, golden.case, results, node=report.nodeid, key=info.key)
        encoded = msgspec.json.encode(test).decode()
        vars(report).update(carob_test=encoded, carob_suite=self._encode_once(info))

    def _suite(self, mark: pytest.Mark) -> tuple[Arguments, Suite]:
        for known, arguments, opened in self._suites:
            if known is mark:  # one marker for a class or a module
                return arguments, opened
        arguments = parse_marker(mark)
        config = self._root / "carob.toml"
        config = config if config.is_file() else None
        opened = suite(
            self._dataset(arguments.golden),
            traces=[self._root / path for path in arguments.traces],
            metrics=arguments.metrics,
            thresholds=arguments.thresholds,
            params=arguments.params,
            profile=arguments.profile,
            where=arguments.where,
            tags=arguments.tags,
            cases=arguments.cases,
            limit=arguments.limit,
            config=config,
            trust_config=self._trust_config,
            judge=arguments.judge,
            answers=store_url(config=config),
        )
        self._suites.append((mark, arguments, opened))
        if self._writes_run:
            check_mergeable([opened for _, _, opened in self._suites])
        return arguments, opened

    def _dataset(self, golden: str | PathLike[str] | Dataset) -> Dataset:
        if isinstance(golden, Dataset):
            return golden
        path = self._root / golden
        if path not in self._datasets:
            self._datasets[path] = load(path)
        return self._datasets[path]

    def _info(self, suite: Suite) -> SuiteInfo:
        """Describe a suite, once, because that reads its traces."""
        if id(suite) not in self._infos:
            self._infos[id(suite)] = SuiteInfo.of(suite)
        return self._infos[id(suite)]

    def _encode_once(self, info: SuiteInfo) -> str | None:
        """Encode the info for the first report of this process that needs it."""
        if info.key in self._sent:
            return None
        self._sent.add(info.key)
        return msgspec.json.encode(info).decode()


def _check_single_marker(metafunc: pytest.Metafunc) -> None:
    marks = [mark for mark in metafunc.definition.own_markers if mark.name == "golden"]
    if len(marks) > 1:
        raise UsageError("two `golden` markers on one test", hint="write a test for each dataset")


def _explain_end(
    report: pytest.TestReport, call: pytest.CallInfo[None]
) -> tuple[Literal["unscored", "error"], str]:
    """Return why a test ended before anything was scored."""
    if report.skipped:
        return "unscored", "the test was skipped"
    name = call.excinfo.typename if call.excinfo else "nothing"
    return "error", f"the test ended with {name}"
