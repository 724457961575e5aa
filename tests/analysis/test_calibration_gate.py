from __future__ import annotations

import msgspec
import pytest

from carob.analysis.calibration import calibrate
from carob.analysis.calibration_gate import calibration_checks
from carob.errors import UsageError
from carob.schema import (
    Calibration,
    GateCheck,
    GateRules,
    LabelValue,
    MetricSpec,
    ProfileVerdict,
    Run,
)
from tests.analysis.judged import judge, judged, labels, metric

RULES = GateRules(require_calibration=True)
HELD = GateRules(require_calibration=True, metrics=("tone",))


def calibrated(
    use: MetricSpec | None = None, *, wrong: int = 0, verdicts: bool = False
) -> Calibration:
    """A judge who is wrong so many times of twenty."""
    scores = {f"c{n}": 5.0 if n % 2 else 1.0 for n in range(20)}
    told: dict[str, LabelValue] = {}
    for place, (case, score) in enumerate(scores.items()):
        right = 6 - score if place < wrong else score
        told[case] = ("passed" if right > 3 else "failed") if verdicts else right
    run = judged(scores, use)
    return calibrate(run, run.metrics[0], labels(told), "2026-03-01T10:00:00Z")


def held(run: Run, *known: Calibration, rules: GateRules = RULES) -> list[GateCheck]:
    return [*calibration_checks(run, rules, known)]


def test_a_judge_that_is_calibrated_passes():
    (found,) = held(judged({"a": 4.0}), calibrated())
    assert (found.name, found.status) == ("calibration of tone", "passed")
    assert found.message.startswith("kappa 1.00 over 20 cases, 95% confidence interval 0.")
    assert found.message.endswith("to 1.00; the lower bound must be at least 0.4")


def test_a_judge_that_is_too_often_wrong_fails():
    (found,) = held(judged({"a": 4.0}), calibrated(wrong=6))
    assert found.status == "failed"


def test_what_is_asked_can_be_chosen():
    strict, lax = (GateRules(min_kappa=least) for least in (0.99, 0.0))
    assert held(judged({"a": 4.0}), calibrated(), rules=strict)[0].status == "failed"
    assert held(judged({"a": 4.0}), calibrated(wrong=5), rules=lax)[0].status == "passed"


def test_a_judge_that_nobody_compared_with_people_fails():
    (found,) = held(judged({"a": 4.0}))
    assert found == GateCheck(
        "calibration of tone",
        "failed",
        "never calibrated against human labels: run `carob calibrate`",
    )


def test_a_calibration_of_another_metric_does_not_count():
    (found,) = held(judged({"a": 4.0}), calibrated(metric("clarity")))
    assert "never calibrated" in found.message


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            metric(by=judge("local:other")),
            "calibrated for local:judge, the run used local:other: calibrate again",
        ),
        (
            metric(by=judge(prompt="sha256:p2")),
            "calibrated with a different prompt: calibrate again",
        ),
        (
            metric(by=judge(rubric="sha256:r2")),
            "calibrated with a different rubric: calibrate again",
        ),
        (metric(version=2), "calibrated with version 1, the run used version 2: calibrate again"),
        (
            metric(params={"strict": True}),
            "calibrated with strict None, the run used True: calibrate again",
        ),
        (
            metric(by=judge(params={"temperature": 1.0})),
            "calibrated with judge temperature None, the run used 1.0: calibrate again",
        ),
        (
            metric(by=judge("local:other", rubric="sha256:r2")),
            (
                "calibrated for local:judge, the run used local:other,"
                " calibrated with a different rubric: calibrate again"
            ),
        ),
    ],
)
def test_what_moved_is_named(use: MetricSpec, message: str):
    (found,) = held(judged({"a": 4.0}, use), calibrated())
    assert (found.status, found.message) == ("failed", message)


def test_of_several_the_nearest_is_named():
    use = metric(by=judge("local:new"))
    far = calibrated(metric(by=judge("local:old", prompt="sha256:p2")))
    (found,) = held(judged({"a": 4.0}, use), far, calibrated())
    assert found.message == "calibrated for local:judge, the run used local:new: calibrate again"


def test_verdicts_hold_for_their_threshold_and_levels_for_any():
    run = judged({"a": 4.0}, metric(threshold=3.0))
    (verdicts,) = held(run, calibrated(verdicts=True))
    assert verdicts.message == "calibrated with threshold 4, the run used 3: calibrate again"
    assert held(run, calibrated())[0].status == "passed"
    informs = judged({"a": 4.0}, metric(threshold=None))
    (lost,) = held(informs, calibrated(verdicts=True), rules=HELD)
    assert lost.message == "calibrated with threshold 4, the run used none: calibrate again"


def test_the_first_that_fits_decides():
    assert held(judged({"a": 4.0}), calibrated(wrong=9), calibrated())[0].status == "failed"


def test_labels_of_one_kind_do_not_calibrate():
    run = judged({"a": 5.0, "b": 5.0})
    made = calibrate(run, run.metrics[0], labels({"a": 5.0, "b": 5.0}), "2026-03-01T10:00:00Z")
    (found,) = held(run, made)
    assert found.status == "failed"
    assert found.message.startswith("kappa is undefined because 2 cases all have the same")


def test_a_run_without_judges_passes_and_says_so():
    (found,) = held(judged({"a": 4.0}, metric(by=None)))
    assert found == GateCheck(
        "calibration", "passed", "no judge decides, so no calibration is required"
    )


def test_a_judge_that_only_informs_need_not_be_calibrated_unless_it_is_held():
    run = judged({"a": 4.0}, metric(threshold=None))
    assert held(run)[0].status == "passed"
    for rules in (GateRules(metrics=("tone",)), GateRules(thresholds={"tone": 3.0})):
        assert held(run, rules=rules)[0].status == "failed"


def test_a_judge_that_a_profile_may_weigh_must_be_calibrated():
    run = judged({"a": 4.0}, metric(threshold=None))
    weighed = msgspec.structs.replace(
        run.cases[0], judgement=ProfileVerdict(profile="p", composite=0.5, passed=True, reason="")
    )
    found = held(msgspec.structs.replace(run, cases=(weighed,)))
    assert found[0].status == "failed"


def test_a_kappa_that_cannot_be_is_an_error():
    with pytest.raises(UsageError, match="the minimum kappa is 4, expected"):
        held(judged({"a": 4.0}), rules=GateRules(min_kappa=4.0))
