from __future__ import annotations

import msgspec

from carob.analysis.calibration import calibrate
from carob.report.calibration import agreement_sentence, format_calibration
from carob.schema import Calibration, Label
from tests.analysis.judged import judged, label, labels, metric


def calibrated(human_labels: list[Label] | None = None) -> Calibration:
    scores = {f"c{n}": 5.0 if n % 2 else 1.0 for n in range(20)}
    run = judged({**scores, "late": "unscored", "broken": "error"})
    human_labels = human_labels or [
        *labels(dict(scores)),
        label("late", 4.0),
        label("broken", 4.0),
        label("gone", 4.0),
    ]
    return calibrate(run, run.metrics[0], human_labels, "2026-03-01T10:00:00Z")


def test_first_line_states_the_agreement():
    first, second = format_calibration(calibrated(), 0.4).splitlines()[:2]
    assert first.startswith("tone (local:judge) agrees with humans on 20 of 20 cases; kappa 1.00")
    assert second == "calibrated: the lower bound of kappa reaches 0.4"


def test_metric_without_a_judge_is_called_by_its_name():
    run = judged({"a": 5.0, "b": 1.0}, metric(by=None))
    calibration = calibrate(
        run, run.metrics[0], labels({"a": 5.0, "b": 1.0}), "2026-03-01T10:00:00Z"
    )
    assert agreement_sentence(calibration).startswith(
        "tone agrees with humans on 2 of 2 cases; kappa 1.00"
    )


def test_excluded_cases_are_listed_with_the_reason():
    text = format_calibration(calibrated(), 0.4)
    assert "excluded (not scored by the judge): late\n" in text
    assert "excluded (judge error): broken\n" in text
    assert "excluded (not in the run): gone\n" in text


def test_verdicts_have_a_two_by_two_matrix():
    human_labels = [label(f"c{n}", "passed" if n % 2 or n < 2 else "failed") for n in range(20)]
    text = format_calibration(calibrated(human_labels), 0.4)
    assert (
        "               judge: failed  judge: passed\n"
        "human: failed              9              0\n"
        "human: passed              1             10\n"
    ) in text
    assert "the judge passes 10, humans pass 11\n" in text
    assert (
        "c0 (t-c0): humans say passed, the judge failed (score 1)\n  judge: because of c0" in text
    )


def test_verdict_says_what_is_missing_for_a_calibration():
    few = calibrated(labels({"c0": 1.0, "c1": 5.0}))
    assert "below 0.4; add more labels" in format_calibration(few, 0.4)
    bad = calibrated(labels({f"c{n}": 1.0 if n % 2 else 5.0 for n in range(20)}))
    assert "not calibrated: kappa is below 0.4\n" in format_calibration(bad, 0.4)
    same = calibrated(labels({"c1": 5.0, "c3": 5.0}))
    assert "kappa is undefined\nnot calibrated: all labels are the same" in format_calibration(
        same, 0.4
    )


def test_agreement_among_humans_and_ties_are_reported():
    human_labels = [
        *labels({f"c{n}": 5.0 if n % 2 else 1.0 for n in range(1, 20)}),
        label("c1", 5.0, by="jon"),
        label("c0", 1.0, by="ida"),
        label("c0", 2.0, by="jon"),
    ]
    text = format_calibration(calibrated(human_labels), 0.4)
    assert "humans agree with each other on 1 of 2 cases; kappa " in text
    assert "excluded (humans disagree): c0\n" in text


def test_text_of_a_judge_cannot_control_the_terminal():
    human_labels = [label("c0", 5.0, note="\x1b[2Jgone"), label("c1", 5.0)]
    calibration = calibrated(human_labels)
    evil = msgspec.structs.replace(calibration.disagreements[0], reason="\x1b[31mred\nline")
    text = format_calibration(msgspec.structs.replace(calibration, disagreements=(evil,)), 0.4)
    assert "\x1b" not in text
    assert "  judge: \\x1b[31mred line\n  human: \\x1b[2Jgone\n" in text


def test_only_the_worst_disagreements_are_shown():
    human_labels = labels({f"c{n}": 1.0 if n % 2 else 5.0 for n in range(20)})
    assert "and 15 more disagreements; use --format json to list all" in format_calibration(
        calibrated(human_labels), 0.4
    )
