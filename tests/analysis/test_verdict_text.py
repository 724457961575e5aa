from __future__ import annotations

from typing import Literal

import pytest
from msgspec.structs import replace

from carob.analysis.verdict_text import describe_metric, describe_run
from carob.schema import Alignment, Conclusion, Difference, Mean, MetricComparison

DIFFERENCE = Difference(
    value=-0.125,
    interval=(-0.2, -0.05),
    equivalence_interval=(-0.19, -0.06),
    margin=0.02,
    p=0.0123,
    adjusted_p=0.0246,
    detectable=0.0912,
    needed=1234,
)


def compared(
    verdict: Conclusion,
    difference: Difference | None = DIFFERENCE,
    *,
    before: float = 0.875,
    after: float = 0.75,
    better: Literal["higher", "lower"] = "higher",
    name: str = "recall",
    deciding: bool = True,
) -> MetricComparison:
    return MetricComparison(
        name=name,
        deciding=deciding,
        better=better,
        verdict=verdict,
        sentence="",
        cases=40,
        before=Mean(before, None),
        after=Mean(after, None),
        difference=difference,
    )


def test_significant_change_states_direction_interval_and_p():
    assert describe_metric(compared("regressed")) == (
        "fell from 0.875 to 0.75: −0.125, confidence interval −0.2 to −0.05, p = 0.025"
    )
    rose = replace(DIFFERENCE, value=250.0, interval=(0.5, 1999.6), adjusted_p=0.00009)
    slower = compared("regressed", rose, before=1000.4, after=1250.4, better="lower")
    assert describe_metric(slower) == (
        "rose from 1,000 to 1,250 (lower is better): +250, confidence interval +0.5 to +2,000,"
        " p < 0.0001"
    )


def test_smallest_p_that_is_shown_as_a_number_is_one_in_ten_thousand():
    difference = replace(DIFFERENCE, adjusted_p=0.0001)
    assert describe_metric(compared("regressed", difference)).endswith("p = 0.0001")


def test_equivalent_runs_differ_by_no_more_than_the_margin():
    assert describe_metric(compared("equivalent")) == (
        "0.875 before, 0.75 after: no difference beyond 0.02"
    )
    itself = replace(DIFFERENCE, value=0.0, interval=(0.0, 0.0))
    assert describe_metric(compared("equivalent", itself, after=0.875)) == (
        "0.875 in both: a run compared with itself"
    )
    half_open = replace(DIFFERENCE, interval=(0.0, 0.01))
    assert "compared with itself" not in describe_metric(compared("equivalent", half_open))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {},
            (
                "0.875 before, 0.75 after (−0.125), not significant (p = 0.025);"
                " 40 cases can detect differences of 0.0912 or more;"
                " about 1,234 would confirm a difference of this size"
            ),
        ),
        (
            {"value": 0.02},
            (
                "0.875 before, 0.75 after (+0.02), not significant (p = 0.025);"
                " 40 cases can detect differences of 0.0912 or more;"
                " about 1,234 would rule out a difference beyond 0.02"
            ),
        ),
        (
            {"value": -0.02, "detectable": 0.5},
            (
                "0.875 before, 0.75 after (−0.02), not significant (p = 0.025);"
                " 40 cases can detect differences of 0.5 or more;"
                " about 1,234 would rule out a difference beyond 0.02"
            ),
        ),
        (
            {"value": 0.0, "needed": None},
            (
                "0.875 in both, too few cases to rule out a difference;"
                " 40 cases can detect differences of 0.0912 or more"
            ),
        ),
        (
            {"detectable": None, "needed": None},
            (
                "0.875 before, 0.75 after (−0.125), not significant (p = 0.025);"
                " 40 cases cannot detect any difference"
            ),
        ),
    ],
)
def test_inconclusive_comparison_states_what_the_cases_can_show(
    change: dict[str, float | None], sentence: str
):
    assert describe_metric(compared("inconclusive", replace(DIFFERENCE, **change))) == sentence


def test_cases_that_only_one_run_scored_are_counted():
    partly = replace(compared("equivalent"), lost=("a", "b"), gained=("c",))
    excluded = ". Excluded: 2 cases scored only before, 1 case scored only after"
    assert describe_metric(partly).endswith(f"beyond 0.02{excluded}")
    nothing = replace(partly, difference=None, lost=())
    assert describe_metric(nothing) == (
        "no case was scored in both runs. Excluded: 1 case scored only after"
    )


def test_verdict_on_the_run_names_the_deciding_metrics_that_led_to_it():
    metrics = [
        compared("regressed", name="recall"),
        compared("regressed", name="rouge"),
        compared("regressed", name="tone"),
        compared("regressed", name="length", deciding=False),
        compared("improved", name="cost"),
    ]
    cases = Alignment(same=1200)
    assert describe_run("regressed", metrics, cases) == (
        "recall, rouge and tone regressed on 1,200 unchanged cases"
    )
    assert describe_run("improved", metrics, Alignment(same=1)) == (
        "cost improved on 1 unchanged case"
    )


def test_verdict_on_the_run_without_a_change_says_why():
    unsure, same = compared("inconclusive"), compared("equivalent")
    cases = Alignment(same=2)
    assert describe_run("inconclusive", [unsure], cases) == (
        "recall inconclusive on 2 unchanged cases"
    )
    assert describe_run("equivalent", [same], cases) == (
        "no difference beyond the margin on 2 unchanged cases"
    )
    assert describe_run("equivalent", [unsure], cases) == (
        "no verdict: no metric with a threshold is comparable on 2 unchanged cases"
    )
    assert describe_run("equivalent", [same], Alignment(same=0)) == (
        "nothing can be compared: no case is the same in both runs"
    )


def test_numbers_from_a_thousand_on_have_no_exponent():
    text = describe_metric(compared("improved", before=999.0, after=1000.0))
    assert "from 999 to 1,000" in text
