from __future__ import annotations

from itertools import permutations

import msgspec
import pytest

from carob.api.suite_runs import CaseTest, SuiteInfo, check_mergeable, merge_tests, record_test
from carob.api.testing import Suite, suite
from carob.errors import UsageError
from carob.schema import Case, Dataset

CASES = [Case.of(f"Question {number}", "Yes.", id=f"case-{number}") for number in range(3)]


def shop(name: str = "shop", *, threshold: float = 0.8, cases: list[Case] = CASES) -> Suite:
    limits = {"response_match_score": threshold}
    dataset = Dataset(name=name, cases=cases)
    return suite(dataset, metrics=["response_match_score"], thresholds=limits)


def results(made: Suite) -> list[CaseTest]:
    key = SuiteInfo.of(made).key
    scored = [(case, made.score(case, "Yes.", id="t", reason="")) for case in made.cases]
    return [
        record_test(made, case, [scores.result], node=f"test[{case.id}]", key=key)
        for case, scores in scored
    ]


def test_a_run_does_not_depend_on_who_was_ready_first(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    made = shop()
    infos = {SuiteInfo.of(made).key: SuiteInfo.of(made)}
    runs = [merge_tests(infos, order) for order in permutations(results(made))]
    assert [one.case for one in runs[0].cases] == ["case-0", "case-1", "case-2"]
    assert runs.count(runs[0]) == 6


def test_results_come_through_json_as_they_were():
    [first, *_] = results(shop())
    assert msgspec.json.decode(msgspec.json.encode(first), type=CaseTest) == first


def test_two_datasets_are_one_run_under_both_names():
    one, two = shop("a", cases=CASES[:1]), shop("b", cases=CASES[1:])
    infos = {SuiteInfo.of(made).key: SuiteInfo.of(made) for made in (one, two)}
    made = merge_tests(infos, [*results(two), *results(one)])
    assert made.dataset is not None
    assert (made.dataset.name, made.dataset.version) == ("a + b", None)
    assert [one.case for one in made.cases] == ["case-0", "case-1", "case-2"]


def test_a_case_in_two_datasets_cannot_be_one_run():
    with pytest.raises(UsageError, match="case 'case-0' is in two datasets, 'a' and 'b'"):
        check_mergeable([shop("a"), shop("b")])


def test_a_metric_with_two_thresholds_cannot_be_one_run():
    with pytest.raises(
        UsageError, match="'response_match_score' is used with different thresholds"
    ):
        check_mergeable([shop(), shop(threshold=0.5)])


def test_the_same_suite_twice_can_be_one_run():
    check_mergeable([shop(), shop()])


def test_no_test_is_a_run_without_a_verdict():
    made = merge_tests({}, [])
    assert (made.verdict, made.dataset, made.cases) == ("inconclusive", None, ())
