"""Use-cases of test sessions: the tests of golden cases, wherever they ran, become one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import msgspec

from carob.api.runs import make_run
from carob.api.testing import Paired, Suite
from carob.errors import CarobError, UsageError
from carob.schema import (
    Case,
    CaseResult,
    MetricSpec,
    Problem,
    Run,
    RunDataset,
    Struct,
    UnmatchedTrace,
)


class Head(Struct, frozen=True):
    """What the tests of a suite have in common."""

    dataset: RunDataset
    metrics: tuple[MetricSpec, ...]
    unmatched: tuple[UnmatchedTrace, ...] = ()
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, suite: Suite) -> Head:
        try:
            found = suite.recorded
        except CarobError:  # which every test of the suite says itself
            found = Paired({})
        return cls(suite.about, suite.metrics, found.unmatched, found.problems)

    @property
    def key(self) -> str:
        return sha256(msgspec.json.encode(self)).hexdigest()


class Record(Struct, frozen=True):
    """What a test of one case gave; it goes from process to process as JSON."""

    node: str
    head: str
    """The key of the head."""
    place: int
    """Where the case stands in its dataset."""
    case: Case
    results: tuple[CaseResult, ...]


def record(
    suite: Suite, case: Case, results: Iterable[CaseResult], *, node: str, head: str
) -> Record:
    """The results of a test, with what a summary needs to know of its case."""
    about = msgspec.structs.replace(case, recording=None, origin=None)
    return Record(node, head, suite.places[case.id], about, tuple(results))


def together(suites: Sequence[Suite]) -> None:
    """Before anything runs: can these become one run?"""
    _metrics(use for suite in suites for use in suite.metrics)
    homes: dict[str, RunDataset] = {}
    for suite in suites:
        for case in suite.cases:
            home = homes.setdefault(case.id, suite.about)
            if home != suite.about:
                raise UsageError(
                    f"case {case.id!r} is in two datasets, {home.name!r} and {suite.about.name!r}",
                    hint=_APART,
                )


def session_run(heads: Mapping[str, Head], records: Iterable[Record]) -> Run:
    """One run of all tests, in the order of the golden data, whoever was ready first."""
    ordered = sorted(records, key=lambda one: (*_name(heads[one.head]), one.place, one.node))
    found = [heads[key] for key in dict.fromkeys(one.head for one in ordered)]
    return make_run(
        _dataset([head.dataset for head in found]),
        _metrics(use for head in found for use in head.metrics),
        tuple(result for one in ordered for result in one.results),
        {one.case.id: one.case for one in ordered},
        unmatched=tuple(dict.fromkeys(lost for head in found for lost in head.unmatched)),
    )


def _name(head: Head) -> tuple[str, str]:
    return head.dataset.name, head.dataset.digest


def _metrics(uses: Iterable[MetricSpec]) -> tuple[MetricSpec, ...]:
    """Every metric once; one that is used in two ways would be two under one name."""
    found: dict[str, MetricSpec] = {}
    for use in uses:
        if found.setdefault(use.name, use) != use:
            message = f"metric {use.name!r} is used with two thresholds or parameters"
            raise UsageError(message, hint=_APART)
    return tuple(found.values())


def _dataset(found: Sequence[RunDataset]) -> RunDataset | None:
    several = tuple(dict.fromkeys(found))
    if len(several) <= 1:
        return several[0] if several else None
    digests = msgspec.json.encode([one.digest for one in several])
    return RunDataset(
        name=" + ".join(one.name for one in several),
        version=None,
        digest=f"sha256:{sha256(digests).hexdigest()}",
        format=None,
    )


_APART = "a run holds one of each; write a run for each, in two sessions"
