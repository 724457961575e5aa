from __future__ import annotations

import pytest

from carob.schema import CaseScore, ProfileVerdict, Status
from carob.schema.status import case_status

INFO = CaseScore(metric="latency", status="info", value=3.0)
NOT_APPLICABLE = CaseScore(metric="a", status="unscored", threshold=0.5, not_applicable=True)
NOT_SCORED = CaseScore(metric="b", status="unscored", threshold=0.5)
PASSED = CaseScore(metric="c", status="passed", value=1.0, threshold=0.5)
FAILED = CaseScore(metric="d", status="failed", value=0.0, threshold=0.5)
ERROR = CaseScore(metric="e", status="error", threshold=0.5)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], "info"),
        ([INFO], "info"),
        ([INFO, CaseScore(metric="cost", status="unscored")], "info"),
        ([NOT_SCORED], "unscored"),
        ([NOT_SCORED, INFO], "unscored"),
        ([NOT_APPLICABLE, INFO], "unscored"),
        ([NOT_APPLICABLE, PASSED, INFO], "passed"),
        ([NOT_SCORED, PASSED], "unscored"),
        ([PASSED, CaseScore(metric="cost", status="unscored")], "passed"),
        ([PASSED, ERROR], "error"),
        ([NOT_SCORED, ERROR], "error"),
        ([INFO, CaseScore(metric="cost", status="error")], "error"),
        ([ERROR, FAILED, PASSED, NOT_SCORED], "failed"),
    ],
)
def test_only_deciding_scores_decide(scores: list[CaseScore], expected: Status):
    assert case_status(scores) == expected


def judgement(*, passed: bool) -> ProfileVerdict:
    return ProfileVerdict(profile="p", composite=4.0, passed=passed, reason="")


@pytest.mark.parametrize(
    ("scores", "verdict", "expected"),
    [
        ([INFO], True, "passed"),
        ([INFO], False, "failed"),
        ([INFO], None, "unscored"),
        ([FAILED], True, "passed"),  # the profile has a threshold of its own for it
        ([NOT_SCORED], True, "unscored"),
        ([NOT_APPLICABLE], True, "passed"),
        ([ERROR], True, "error"),
        ([NOT_SCORED], False, "failed"),
    ],
)
def test_scores_that_a_profile_weighs_decide_through_its_judgement(
    scores: list[CaseScore], verdict: bool | None, expected: Status
):
    judged = None if verdict is None else judgement(passed=verdict)
    assert case_status(scores, judged, lambda name: True) == expected


def test_scores_that_a_profile_does_not_weigh_keep_their_thresholds():
    assert case_status([FAILED], judgement(passed=True), lambda name: False) == "failed"
    assert case_status([NOT_SCORED], judgement(passed=True), lambda name: False) == "unscored"
