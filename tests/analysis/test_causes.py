from __future__ import annotations

import pytest

from carob.analysis.causes import count_causes, describe_cause, find_causes, group_causes
from carob.schema import CaseResult, CaseScore, Status
from carob.schema.causes import Cause


def result(*scores: CaseScore, case: str | None = "c", status: Status = "failed") -> CaseResult:
    return CaseResult(case, "t", status, scores)


TOOLS = "tool_usage_accuracy"


def failed(reason: str, metric: str = TOOLS) -> CaseScore:
    return CaseScore(metric, "failed", reason=reason)


def causes(reason: str) -> list[tuple[str, str]]:
    return [(cause.kind, cause.subject) for cause in find_causes(result(failed(reason)))]


@pytest.mark.parametrize(
    ("reason", "expected"),
    [
        ("missing check_warranty(id=1)", [("missing call", "check_warranty")]),
        ("unexpected pay", [("unexpected call", "pay")]),
        (
            "missing a(x=1); unexpected b(y='c; d')",
            [("missing call", "a"), ("unexpected call", "b")],
        ),
        ("matched a; missing b", [("missing call", "b")]),
        ("turn 2: the turn is missing", [("missing turn", TOOLS)]),
        ("turn 3: the turn is not expected", [("unexpected turn", TOOLS)]),
        ("turn 1: missing a; turn 2: missing a", [("missing call", "a")]),
        (
            "wrong argument in book: slot: expected 1, got 2; day: unexpected 3",
            [("wrong argument", "book.slot"), ("wrong argument", "book.day")],
        ),
        ("wrong argument in book: something else", [("wrong argument", "book")]),
        ("book: slot: expected 1, got 2", [("wrong argument", "book.slot")]),
        ("expected a(x=1), got no calls", [("missing call", "a")]),
        ("expected no calls, got b()", [("unexpected call", "b")]),
        (
            "expected a(x=1), b(), got b(), c(y=2)",
            [("missing call", "a"), ("unexpected call", "c")],
        ),
        ("expected a(), b(), got b(), a()", [("wrong argument", "a")]),
        ("0.4 of the words are shared", [("low score", TOOLS)]),
        ("", [("low score", TOOLS)]),
    ],
)
def test_steps_of_the_reason_are_causes(reason: str, expected: list[tuple[str, str]]):
    assert causes(reason) == expected


@pytest.mark.parametrize(
    ("metric", "reason"),
    [
        ("completeness", "missing Paris"),
        ("factuality", "expected yes, got no"),
        ("agent_routing", "missing billing; got desk"),
        ("trajectory_accuracy", "expected greet, got pay"),
    ],
)
def test_words_and_agents_are_not_taken_for_tools(metric: str, reason: str):
    assert find_causes(result(failed(reason, metric))) == (Cause("low score", metric),)
    turn = failed("turn 2: the turn is missing", metric)
    assert find_causes(result(turn)) == (Cause("missing turn", metric),)


def test_only_scores_that_hold_the_case_back_are_asked():
    scores = (
        CaseScore("a", "passed", reason="missing x"),
        CaseScore("b", "info", reason="missing x"),
        CaseScore("c", "error", reason="missing x"),
        CaseScore("d", "unscored", reason="missing x"),
    )
    assert find_causes(result(*scores)) == (Cause("error", "c"), Cause("not scored", "d"))
    assert find_causes(result(scores[0])) == ()


def test_step_of_one_score_outweighs_the_low_score_of_another():
    scores = (failed("missing pay"), failed("too short", metric="rouge_l"))
    assert find_causes(result(*scores)) == (Cause("missing call", "pay"),)


def test_most_frequent_cause_comes_first_with_a_few_examples():
    groups = group_causes(
        [
            *(result(failed("missing b"), case=f"b{number}") for number in range(6)),
            result(failed("unexpected a"), case=None),
            result(failed("missing z; missing c"), case="z"),
            result(failed("missing q"), case="p", status="passed"),
            result(failed("missing q"), case="i", status="info"),
        ]
    )
    assert [(group.cause.kind, group.cause.subject, group.cases) for group in groups] == [
        ("missing call", "b", 6),
        ("missing call", "c", 1),
        ("missing call", "z", 1),
        ("unexpected call", "a", 1),
    ]
    assert groups[0].examples == ("b0", "b1", "b2", "b3", "b4")
    assert groups[3].examples == ("t",)  # there is no case, so the trace stands for it


def test_every_cause_has_words():
    assert describe_cause(Cause("missing call", "pay")) == "tool not called"
    assert describe_cause(Cause("error", "rouge_l")) == "metric broke"


def test_causes_are_ordered_by_frequency_then_kind_then_subject():
    cases = [
        ("1", [Cause("missing turn", "tools"), Cause("error", "judge")]),
        ("2", [Cause("unexpected call", "pay"), Cause("missing call", "search")]),
        ("3", [Cause("missing call", "book"), Cause("error", "judge")]),
    ]
    assert [(group.cause.kind, group.cause.subject) for group in count_causes(cases)] == [
        ("error", "judge"),
        ("missing call", "book"),
        ("missing call", "search"),
        ("unexpected call", "pay"),
        ("missing turn", "tools"),
    ]
