from __future__ import annotations

import json

import pytest

from carob.errors import FormatError
from carob.policy.apply import judge_lines
from carob.policy.profile import MetricRequirement, Profile
from carob.schema import CaseResult


def line(profile: str | None = "prep_default", case: str = "a", **scores: float | None) -> bytes:
    return json.dumps({"case": case, "profile": profile, "scores": scores}).encode() + b"\n"


def applied(*lines: bytes, profile: Profile | None = None, raw: bool = False) -> list[CaseResult]:
    return list(judge_lines(lines, source="scores.jsonl", profile=profile, raw=raw))


def composite(result: CaseResult) -> float | None:
    return result.judgement.composite if result.judgement else None


def test_each_line_is_judged_by_its_own_profile():
    first, second = applied(line(Relevance=4), line("assessment_strict", Relevance=3.65))
    assert first.judgement
    assert second.judgement
    assert (first.judgement.profile, first.judgement.passed) == ("prep_default", True)
    assert second.judgement.reason == "Composite=3.65 (<3.70)"


def test_explicit_profile_overrides_those_of_the_lines():
    own = Profile(
        name="own",
        scale=(0, 1),
        composite=0.5,
        metrics={"tact": MetricRequirement(threshold=0, weight=1)},
    )
    (result,) = applied(line(None, tact=0.75), profile=own)
    assert composite(result) == 0.75


def test_missing_score_is_left_out_of_the_composite_and_holds_the_case_back():
    incomplete, complete = applied(line(Relevance=4, Coherence=None), line(Relevance=4))
    assert composite(incomplete) == composite(complete) == 4
    assert [score.status for score in incomplete.scores] == ["passed", "unscored"]
    assert (incomplete.status, complete.status) == ("unscored", "passed")
    assert incomplete.judgement
    assert (incomplete.judgement.passed, incomplete.judgement.reason) == (
        False,
        "Not scored: Coherence",
    )


def test_reasons_keep_the_given_names_while_scores_of_one_eval_share_a_name():
    results = applied(line(EmpathyExplain=2), line(Empathy=2))
    assert [score.metric for result in results for score in result.scores] == ["Empathy"] * 2
    reasons = [result.judgement.reason for result in results if result.judgement]
    assert [reason.split(" (")[0] for reason in reasons] == [
        "Below threshold: EmpathyExplain=2.00",
        "Below threshold: Empathy=2.00",
    ]


def test_line_without_scores_is_unscored():
    for scores in (line(Relevance=None), line(), line(Charm=5)):
        (result,) = applied(scores)
        assert (result.status, composite(result)) == ("unscored", None)


def test_perceived_intelligence_has_a_scale_to_ten_unless_raw():
    data = line(PerceivedIntelligenceExplain=10)
    assert composite(applied(data)[0]) == 5
    assert composite(applied(data, raw=True)[0]) == 10


def test_score_outside_its_scale_is_an_error_unless_raw():
    with pytest.raises(FormatError, match="Relevance: -1 is not on its scale from 1 to 5"):
        applied(line(Relevance=-1))
    assert composite(applied(line(Relevance=-1), raw=True)[0]) == -1


def test_metric_outside_the_profile_is_ignored():
    (weighed,) = applied(line(Relevance=4))
    (mixed,) = applied(line(Relevance=4, Charm=1, tool_usage_accuracy=0.5))
    assert mixed.judgement == weighed.judgement


def test_blank_lines_and_a_byte_order_mark_are_skipped():
    assert len(applied(b"\xef\xbb\xbf" + line(Relevance=4), b"\n", line(Relevance=4))) == 2


@pytest.mark.parametrize(
    ("broken", "message", "hint"),
    [
        (line("prep_defualt"), "unknown profile 'prep_defualt'", "did you mean 'prep_default'?"),
        (line(None), "no profile", "--profile"),
        (line(Relevence=4), "unknown metric 'Relevence'", "did you mean 'Relevance'?"),
        (b'{"case": "a"}', "missing required field `scores`", "expected {"),
        (b'{"case": "a", "scores": {"Relevance": "4"}}', "Expected `float | null`", "expected {"),
        (b'{"case": "a", ', "not JSON: Input data was truncated", "expected {"),
        (b'{"case": "\xff", "scores": {}}', "not JSON: 'utf-8' codec", "expected {"),
        (b'{"x": ' + b"[" * 100_000, "not JSON: ", "expected {"),
        (
            b'{"case": "a", "profil": "prep_default", "scores": {}}',
            "unknown key 'profil'",
            "did you mean 'profile'?",
        ),
    ],
)
def test_error_names_the_line(broken: bytes, message: str, hint: str):
    with pytest.raises(FormatError) as caught:
        applied(line(Relevance=4), broken)
    assert str(caught.value).startswith("scores.jsonl line 2: ")
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_scores_of_a_line_are_converted_and_judged_one_by_one():
    own = Profile(
        name="own",
        scale=(0, 1),
        composite=0.5,
        metrics={
            "tact": MetricRequirement(threshold=0.5, weight=1),
            "wit": MetricRequirement(threshold=0.5, weight=1),
            "calm": MetricRequirement(threshold=0.5, weight=1),
        },
    )
    (result,) = judge_lines(
        [line(None, case="c-7", tact=0.5, wit=0, calm=None)], source="x", profile=own
    )
    assert result.case == "c-7"
    assert [(score.metric, score.status, score.value, score.reason) for score in result.scores] == [
        ("tact", "passed", 0.5, ""),
        ("wit", "failed", 0.0, ""),
        ("calm", "unscored", None, "the score is missing"),
    ]
    assert {score.threshold for score in result.scores} == {0.5}


def test_scores_are_converted_unless_the_caller_asks_for_raw_ones():
    (result,) = judge_lines([line(PerceivedIntelligenceExplain=10)], source="x")
    assert composite(result) == 5
    assert [score.value for score in result.scores] == [5]
    (raw,) = applied(line(PerceivedIntelligenceExplain=10), raw=True)
    assert [score.value for score in raw.scores] == [10]


@pytest.mark.parametrize("value", [1, 5])
def test_both_ends_of_a_scale_are_on_it(value: float):
    (result,) = applied(line(Relevance=value))
    assert [score.value for score in result.scores] == [value]


def test_hints_name_the_option_that_helps():
    with pytest.raises(FormatError) as scale:
        applied(line(Relevance=9))
    assert scale.value.hint == "use null for a missing score, or --raw-scales to skip conversion"
    with pytest.raises(FormatError) as profile:
        applied(line(None, Relevance=4))
    assert profile.value.hint == "name one in the line or with `--profile`"
