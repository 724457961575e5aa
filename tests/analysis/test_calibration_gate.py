from __future__ import annotations

import msgspec
import pytest

from carob.analysis.calibration import calibrate
from carob.analysis.calibration_gate import calibration_checks
from carob.analysis.gate import gate_checks
from carob.analysis.score_table import CaseNumbers, ScoreTable
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
REQUIRED_TONE = GateRules(require_calibration=True, metrics=("tone",))


def calibration_of(
    use: MetricSpec | None = None, *, wrong: int = 0, verdicts: bool = False
) -> Calibration:
    """The calibration of a judge that is wrong in `wrong` of twenty cases."""
    scores = {f"c{n}": 5.0 if n % 2 else 1.0 for n in range(20)}
    opinions: dict[str, LabelValue] = {}
    for number, (case, score) in enumerate(scores.items()):
        right = 6 - score if number < wrong else score
        opinions[case] = ("passed" if right > 3 else "failed") if verdicts else right
    run = judged(scores, use)
    return calibrate(run, run.metrics[0], labels(opinions), "2026-03-01T10:00:00Z")


def checks_of(run: Run, *calibrations: Calibration, rules: GateRules = RULES) -> list[GateCheck]:
    return [*calibration_checks(ScoreTable(run, CaseNumbers()), rules, calibrations)]


def test_calibrated_judge_passes():
    (check,) = checks_of(judged({"a": 4.0}), calibration_of())
    assert (check.name, check.status) == ("calibration of tone", "passed")
    assert check.message.startswith("kappa 1.00 over 20 cases, 95% confidence interval 0.")
    assert check.message.endswith("to 1.00; the lower bound must be at least 0.4")


def test_judge_with_low_agreement_fails():
    (check,) = checks_of(judged({"a": 4.0}), calibration_of(wrong=6))
    assert check.status == "failed"


def test_minimum_kappa_is_configurable():
    strict, lax = (GateRules(min_kappa=least) for least in (0.99, 0.0))
    assert checks_of(judged({"a": 4.0}), calibration_of(), rules=strict)[0].status == "failed"
    assert checks_of(judged({"a": 4.0}), calibration_of(wrong=5), rules=lax)[0].status == "passed"


def test_lower_bound_that_equals_the_minimum_is_enough():
    kappa = calibration_of(wrong=2).agreement.kappa
    assert kappa is not None
    for minimum, status in ((kappa.interval[0], "passed"), (kappa.interval[0] + 1e-6, "failed")):
        rules = GateRules(require_calibration=True, min_kappa=minimum)
        (check,) = checks_of(judged({"a": 4.0}), calibration_of(wrong=2), rules=rules)
        assert check.status == status


def test_judge_without_calibration_fails():
    (check,) = checks_of(judged({"a": 4.0}))
    assert check == GateCheck(
        "calibration of tone",
        "failed",
        "never calibrated against human labels: run `carob calibrate`",
    )


def test_calibration_of_a_different_metric_does_not_count():
    (check,) = checks_of(judged({"a": 4.0}), calibration_of(metric("clarity")))
    assert "never calibrated" in check.message


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
def test_changed_inputs_are_listed(use: MetricSpec, message: str):
    (check,) = checks_of(judged({"a": 4.0}, use), calibration_of())
    assert (check.status, check.message) == ("failed", message)


def test_closest_of_several_calibrations_is_reported():
    use = metric(by=judge("local:new"))
    far = calibration_of(metric(by=judge("local:old", prompt="sha256:p2")))
    (check,) = checks_of(judged({"a": 4.0}, use), far, calibration_of())
    assert check.message == "calibrated for local:judge, the run used local:new: calibrate again"


def test_verdict_calibration_applies_to_its_threshold_and_levels_to_any():
    run = judged({"a": 4.0}, metric(threshold=3.0))
    (verdicts,) = checks_of(run, calibration_of(verdicts=True))
    assert verdicts.message == "calibrated with threshold 4, the run used 3: calibrate again"
    assert checks_of(run, calibration_of())[0].status == "passed"
    informs = judged({"a": 4.0}, metric(threshold=None))
    (lost,) = checks_of(informs, calibration_of(verdicts=True), rules=REQUIRED_TONE)
    assert lost.message == "calibrated with threshold 4, the run used none: calibrate again"


def test_first_matching_calibration_decides():
    assert (
        checks_of(judged({"a": 4.0}), calibration_of(wrong=9), calibration_of())[0].status
        == "failed"
    )


def test_labels_of_a_single_class_do_not_calibrate():
    run = judged({"a": 5.0, "b": 5.0})
    calibration = calibrate(
        run, run.metrics[0], labels({"a": 5.0, "b": 5.0}), "2026-03-01T10:00:00Z"
    )
    (check,) = checks_of(run, calibration)
    assert check.status == "failed"
    assert check.message.startswith("kappa is undefined because 2 cases all have the same")


def test_run_without_judges_passes_with_a_note():
    (check,) = checks_of(judged({"a": 4.0}, metric(by=None)))
    assert check == GateCheck(
        "calibration", "passed", "no judge decides, so no calibration is required"
    )


def test_informational_judge_needs_calibration_only_if_gated():
    run = judged({"a": 4.0}, metric(threshold=None))
    assert checks_of(run)[0].status == "passed"
    for rules in (GateRules(metrics=("tone",)), GateRules(thresholds={"tone": 3.0})):
        assert checks_of(run, rules=rules)[0].status == "failed"


def test_judge_weighted_by_a_profile_must_be_calibrated():
    run = judged({"a": 4.0}, metric(threshold=None))
    weighed = msgspec.structs.replace(
        run.cases[0], judgement=ProfileVerdict(profile="p", composite=0.5, passed=True, reason="")
    )
    checks = checks_of(msgspec.structs.replace(run, cases=(weighed,)))
    assert checks[0].status == "failed"


@pytest.mark.parametrize("minimum", [-1.5, 1.5, 4.0])
def test_minimum_kappa_out_of_range_is_an_error(minimum: float):
    with pytest.raises(UsageError, match=f"the minimum kappa is {minimum:g}, expected"):
        checks_of(judged({"a": 4.0}), rules=GateRules(min_kappa=minimum))


def test_calibration_without_a_judge_does_not_count_for_one():
    (check,) = checks_of(judged({"a": 4.0}), calibration_of(metric(by=None)))
    assert check.status == "failed"
    assert check.message.startswith("calibrated for no model, the run used local:judge, ")


def test_long_values_of_changed_parameters_are_shortened():
    use = metric(params={"note": "x" * 60, "tone": "y" * 38})
    (check,) = checks_of(judged({"a": 4.0}, use), calibration_of())
    assert f"the run used '{'x' * 38}…," in check.message  # 39 characters and the dots
    assert f"the run used '{'y' * 38}': " in check.message  # 40 characters


def test_gate_holds_judges_against_the_given_calibrations():
    table = ScoreTable(judged({"a": 4.0}), CaseNumbers())
    checks = [*gate_checks(table, RULES, None, None, [calibration_of()])]
    assert [(check.name, check.status) for check in checks] == [
        ("scored", "passed"),
        ("calibration of tone", "passed"),
    ]
