"""One run from the tests of golden cases, whichever processes they ran in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import msgspec

from carob.api.running.assemble import assemble_run
from carob.api.testing import Suite, SuiteTraces
from carob.errors import CarobError, UsageError
from carob.schema import (
    Case,
    CaseResult,
    CaseSelection,
    MetricSpec,
    Problem,
    Run,
    RunDataset,
    Struct,
    UnmatchedTrace,
)

_ONE_RUN = "write each to a run of its own, in separate sessions"


class SuiteInfo(Struct, frozen=True):
    """What the tests of a suite have in common."""

    dataset: RunDataset
    metrics: tuple[MetricSpec, ...]
    unmatched: tuple[UnmatchedTrace, ...] = ()
    problems: tuple[Problem, ...] = ()
    selection: CaseSelection = CaseSelection()

    @classmethod
    def of(cls, suite: Suite) -> SuiteInfo:
        """Describe a suite."""
        try:
            traces = suite.paired
        except CarobError:  # every test of the suite reports it
            traces = SuiteTraces({})
        return cls(
            suite.dataset_info, suite.metrics, traces.unmatched, traces.problems, suite.selection
        )

    @property
    def key(self) -> str:
        """A digest that is the same in every process."""
        return sha256(msgspec.json.encode(self)).hexdigest()


class CaseTest(Struct, frozen=True):
    """The results of one test. Sent between processes as JSON."""

    node: str
    suite: str
    """The key of the suite's info."""
    position: int
    """The position of the case in its dataset."""
    case: Case
    results: tuple[CaseResult, ...]


def record_test(
    suite: Suite, case: Case, results: Iterable[CaseResult], *, node: str, key: str
) -> CaseTest:
    """Record the results of a test, with what a summary needs to know about its case."""
    summary = msgspec.structs.replace(case, recorded=None, origin=None)
    return CaseTest(node, key, suite.positions[case.id], summary, tuple(results))


def check_mergeable(suites: Sequence[Suite]) -> None:
    """Raise `UsageError` if suites cannot become one run, before any test runs."""
    _merge_metrics(metric for suite in suites for metric in suite.metrics)
    datasets: dict[str, RunDataset] = {}
    for suite in suites:
        for case in suite.cases:
            other = datasets.setdefault(case.id, suite.dataset_info)
            if other != suite.dataset_info:
                names = f"{other.name!r} and {suite.dataset_info.name!r}"
                raise UsageError(f"case {case.id!r} is in two datasets, {names}", hint=_ONE_RUN)


def merge_tests(suites: Mapping[str, SuiteInfo], records: Iterable[CaseTest]) -> Run:
    """Merge the results of tests into one run, in the order of the golden data. The order in which
    tests finished must not show: with several processes it is different every time."""
    ordered = sorted(
        records,
        key=lambda record: (*_sort_key(suites[record.suite]), record.position, record.node),
    )
    used = [suites[key] for key in dict.fromkeys(record.suite for record in ordered)]
    return assemble_run(
        _merge_datasets([info.dataset for info in used]),
        _merge_metrics(metric for info in used for metric in info.metrics),
        tuple(result for record in ordered for result in record.results),
        {record.case.id: record.case for record in ordered},
        unmatched=tuple(dict.fromkeys(trace for info in used for trace in info.unmatched)),
        selection=_merge_selections(used),
    )


def _sort_key(info: SuiteInfo) -> tuple[str, str]:
    return info.dataset.name, info.dataset.digest


def _merge_selections(suites: Sequence[SuiteInfo]) -> CaseSelection | None:
    """Return the selection that all suites have in common. Tests with different selections of one
    dataset together have none: each result says which case it is about."""
    selections = {info.selection for info in suites}
    return selections.pop() if len(selections) == 1 else None


def _merge_metrics(metrics: Iterable[MetricSpec]) -> tuple[MetricSpec, ...]:
    """Return each metric once. A run refers to metrics by name, so one name cannot stand for two
    thresholds."""
    by_name: dict[str, MetricSpec] = {}
    for metric in metrics:
        if by_name.setdefault(metric.name, metric) != metric:
            message = f"metric {metric.name!r} is used with different thresholds or parameters"
            raise UsageError(message, hint=_ONE_RUN)
    return tuple(by_name.values())


def _merge_datasets(datasets: Sequence[RunDataset]) -> RunDataset | None:
    distinct = tuple(dict.fromkeys(datasets))
    if len(distinct) <= 1:
        return distinct[0] if distinct else None
    digests = msgspec.json.encode([dataset.digest for dataset in distinct])
    return RunDataset(
        name=" + ".join(dataset.name for dataset in distinct),
        version=None,
        digest=f"sha256:{sha256(digests).hexdigest()}",
        format=None,
    )
