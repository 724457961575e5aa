from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from carob.metrics import Metric, Need, Outcome, evaluate
from carob.metrics.metric import without_gap
from carob.metrics.needs import unmet_need
from carob.schema import Case, Failed, Score, Trace, Unscored


@dataclass(frozen=True, kw_only=True)
class Broken(Metric):
    """Raises whatever happens."""

    name: ClassVar[str] = "broken"
    version: ClassVar[int] = 1

    def score(self, case: Case, trace: Trace) -> Outcome:
        raise ZeroDivisionError("nothing to divide by")


@dataclass(frozen=True, kw_only=True)
class Constant(Metric):
    """Always the same."""

    name: ClassVar[str] = "constant"
    version: ClassVar[int] = 1

    value: float = 0.5

    def score(self, case: Case, trace: Trace) -> Outcome:
        return Score(value=self.value)


def test_metric_that_raises_fails_for_that_pair_only():
    outcome = evaluate(Broken(), Case(id="c"), Trace(id="t"))
    assert outcome == Failed(kind="ZeroDivisionError", message="nothing to divide by")


def test_outcome_of_the_metric_is_returned():
    assert evaluate(Constant(value=0.25), Case(id="c"), Trace(id="t")) == Score(value=0.25)


def test_metric_is_offline_and_on_the_unit_scale_unless_it_says_otherwise():
    assert (Constant.scale, Constant.better, Constant.threshold) == ((0.0, 1.0), "higher", None)
    assert not Constant.judged


@dataclass(frozen=True, kw_only=True)
class Reading(Constant):
    """Needs the tool calls."""

    name: ClassVar[str] = "reading"
    needs: ClassVar[tuple[Need, ...]] = ("response", "tool_calls")


def test_score_that_rests_on_a_part_known_to_be_missing_is_withdrawn():
    case, cut = Case(id="c"), Trace(id="t", gaps={"tool_calls": "the calls were sampled"})
    assert evaluate(Reading(), case, cut) == Unscored("the calls were sampled")
    assert evaluate(Constant(), case, cut) == Score(value=0.5)
    failed = Failed(kind="offline", message="no dictionary")
    assert without_gap(failed, Reading(), cut) == failed
    assert unmet_need("tool_calls", cut) == "the calls were sampled"
