from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from carob.api.running.suite_runs import (
    CaseTest,
    SuiteInfo,
    check_mergeable,
    merge_tests,
    record_test,
)
from carob.api.testing import Suite, suite
from carob.errors import UsageError
from carob.schema import Case, Dataset

CASES = [Case.of(f"Question {number}", "Yes.", id=f"case-{number}") for number in range(3)]


def shop(name: str = "shop", *, threshold: float = 0.8, cases: list[Case] = CASES) -> Suite:
    limits = {"response_match_score": threshold}
    dataset = Dataset(name=name, cases=cases)
    return suite(dataset, metrics=["response_match_score"], thresholds=limits)


def results(suite: Suite) -> list[CaseTest]:
    key = SuiteInfo.of(suite).key
    scored = [(case, suite.score(case, "Yes.", id="t", reason="")) for case in suite.cases]
    return [
        record_test(suite, case, [scores.result], node=f"test[{case.id}]", key=key)
        for case, scores in scored
    ]


def test_run_is_independent_of_completion_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    suite = shop()
    infos = {SuiteInfo.of(suite).key: SuiteInfo.of(suite)}
    runs = [merge_tests(infos, order) for order in permutations(results(suite))]
    assert [case.case for case in runs[0].cases] == ["case-0", "case-1", "case-2"]
    assert runs.count(runs[0]) == 6


def test_results_round_trip_through_json():
    [first, *_] = results(shop())
    assert msgspec.json.decode(msgspec.json.encode(first), type=CaseTest) == first


def test_run_of_two_datasets_has_both_names():
    first, second = shop("a", cases=CASES[:1]), shop("b", cases=CASES[1:])
    infos = {SuiteInfo.of(suite).key: SuiteInfo.of(suite) for suite in (first, second)}
    run = merge_tests(infos, [*results(second), *results(first)])
    assert run.dataset is not None
    assert (run.dataset.name, run.dataset.version) == ("a + b", None)
    assert [case.case for case in run.cases] == ["case-0", "case-1", "case-2"]


def test_duplicate_case_in_two_datasets_is_an_error():
    with pytest.raises(UsageError, match="case 'case-0' is in two datasets, 'a' and 'b'"):
        check_mergeable([shop("a"), shop("b")])


def test_metric_with_two_thresholds_is_an_error():
    with pytest.raises(
        UsageError, match="'response_match_score' is used with different thresholds"
    ):
        check_mergeable([shop(), shop(threshold=0.5)])


def test_same_suite_twice_is_one_run():
    check_mergeable([shop(), shop()])


def test_session_without_tests_is_a_run_without_a_verdict():
    run = merge_tests({}, [])
    assert (run.verdict, run.dataset, run.cases) == ("inconclusive", None, ())
