from __future__ import annotations

import re
from typing import Literal

from carob.report.charts import histogram, proportions, trend
from carob.schema import CaseCounts, MetricSpec
from carob.schema.history import RunEntry


def use(
    threshold: float | None = 0.8,
    high: float | None = 1.0,
    better: Literal["higher", "lower"] = "higher",
) -> MetricSpec:
    return MetricSpec(
        name="m", version=1, params={}, threshold=threshold, scale=(0.0, high), better=better
    )


def entry(mean: float, day: int) -> RunEntry:
    return RunEntry(
        id=f"run-{day}",
        created_at=f"2026-03-{day:02}T00:00:00Z",
        verdict="passed",
        dataset="support",
        version=None,
        cases=CaseCounts(),
        means={"m": mean},
        labels={},
    )


def fills(svg: str) -> list[str]:
    return re.findall(r'class="fill-(\w+)"', svg)


def test_bars_are_as_wide_as_their_share():
    svg = proportions(CaseCounts(total=4, passed=3, failed=1))
    assert re.findall(r'width="([\d.]+)"', svg) == ["750", "250"]  # passed first
    assert 'aria-label="3 passed, 1 failed"' in svg


def test_without_cases_the_bar_is_empty():
    assert "<rect" not in proportions(CaseCounts())


def test_bar_is_split_at_the_threshold():
    assert fills(histogram([0.1, 0.95, 1.0], use(threshold=1.0))) == ["failed", "failed", "passed"]


def test_lower_is_better_swaps_the_sides():
    assert fills(histogram([0.1, 0.9], use(better="lower", threshold=0.5))) == ["passed", "failed"]


def test_without_a_threshold_scores_are_informational():
    svg = histogram([10, 4000], use(threshold=None, high=None))
    assert fills(svg) == ["info", "info"]
    assert "4,000" in svg
    assert "threshold" not in svg


def test_single_value_is_a_bar():
    assert fills(histogram([0.0], use(threshold=None, high=None))) == ["info"]


def test_histogram_has_a_text_alternative():
    assert "Distribution of m: 2 scores. 1 from 0 to 0.1; 1 from 0.9 to 1." in histogram(
        [0, 1], use()
    )


def test_trend_goes_from_the_oldest_to_the_newest():
    svg = trend("m", [entry(0.5, 1), entry(0.75, 2)], None)
    assert svg is not None
    assert "Mean of m over 2 runs, from 0.5 to 0.75." in svg
    assert svg.count("<circle") == 2


def test_single_run_has_no_trend():
    assert trend("m", [entry(0.5, 1)]) is None
    assert trend("other", [entry(0.5, 1), entry(0.5, 2)]) is None
