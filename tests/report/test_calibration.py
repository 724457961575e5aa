from __future__ import annotations

import msgspec

from carob.analysis.calibration import calibrate
from carob.report.calibration import sentence, text
from carob.schema import Calibration, Label
from tests.analysis.judged import judged, label, labels, metric


def calibrated(told: list[Label] | None = None) -> Calibration:
    scores = {f"c{n}": 5.0 if n % 2 else 1.0 for n in range(20)}
    run = judged({**scores, "late": "unscored", "broken": "error"})
    given = told or [
        *labels(dict(scores)),
        label("late", 4.0),
        label("broken", 4.0),
        label("gone", 4.0),
    ]
    return calibrate(run, run.metrics[0], given, "2026-03-01T10:00:00Z")


def test_the_first_line_says_it_all():
    first, second = text(calibrated(), 0.4).splitlines()[:2]
    assert first.startswith("tone by local:judge agrees with people in 20 of 20 cases; kappa 1.00,")
    assert second == "calibrated: the lower end of kappa is not below 0.4"


def test_a_metric_without_a_judge_is_called_by_its_name():
    run = judged({"a": 5.0, "b": 1.0}, metric(by=None))
    made = calibrate(run, run.metrics[0], labels({"a": 5.0, "b": 1.0}), "2026-03-01T10:00:00Z")
    assert sentence(made).startswith("tone agrees with people in 2 of 2 cases; kappa 1.00")


def test_what_is_left_out_is_named():
    made = text(calibrated(), 0.4)
    assert "left out, as the judge did not score it: late\n" in made
    assert "left out, as the judge failed at it: broken\n" in made
    assert "left out, as the run has no answer to it: gone\n" in made


def test_verdicts_have_a_table_of_two():
    told = [label(f"c{n}", "passed" if n % 2 or n < 2 else "failed") for n in range(20)]
    made = text(calibrated(told), 0.4)
    assert (
        "                judge: failed  judge: passed\n"
        "people: failed              9              0\n"
        "people: passed              1             10\n"
    ) in made
    assert "the judge passes 10, people pass 11\n" in made
    assert "c0 (t-c0): people say passed, the judge failed, with 1\n  judge: because of c0" in made


def test_what_is_missing_for_a_calibration_is_said():
    few = calibrated(labels({"c0": 1.0, "c1": 5.0}))
    assert "below 0.4; more labels may raise it" in text(few, 0.4)
    bad = calibrated(labels({f"c{n}": 1.0 if n % 2 else 5.0 for n in range(20)}))
    assert "not calibrated: kappa is below 0.4\n" in text(bad, 0.4)
    same = calibrated(labels({"c1": 5.0, "c3": 5.0}))
    assert "kappa is not defined\nnot calibrated: people gave all cases the same" in text(same, 0.4)


def test_people_among_themselves_and_ties_are_told():
    told = [
        *labels({f"c{n}": 5.0 if n % 2 else 1.0 for n in range(1, 20)}),
        label("c1", 5.0, by="jon"),
        label("c0", 1.0, by="ida"),
        label("c0", 2.0, by="jon"),
    ]
    made = text(calibrated(told), 0.4)
    assert "people agree with each other in 1 of 2 cases; kappa " in made
    assert "left out, as people are at odds about it: c0\n" in made


def test_text_of_a_judge_cannot_command_the_terminal():
    told = [label("c0", 5.0, note="\x1b[2Jgone"), label("c1", 5.0)]
    made = calibrated(told)
    evil = msgspec.structs.replace(made.disagreements[0], reason="\x1b[31mred\nline")
    shown = text(msgspec.structs.replace(made, disagreements=(evil,)), 0.4)
    assert "\x1b" not in shown
    assert "  judge: \\x1b[31mred line\n  people: \\x1b[2Jgone\n" in shown


def test_only_the_worst_are_shown():
    told = labels({f"c{n}": 1.0 if n % 2 else 5.0 for n in range(20)})
    assert "and 15 more that they do not agree on; --format json has them" in text(
        calibrated(told), 0.4
    )
