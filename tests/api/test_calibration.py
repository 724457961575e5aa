from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from carob.api import calibration, settings
from carob.errors import UsageError
from carob.schema import JudgeSpec, MetricSpec, Problem
from tests.analysis.judged import judged, metric
from tests.api.judging import install
from tests.judges.client.scripted_model import ScriptedModel

ROWS = (
    ("a", "Thank you, it is on its way."),
    ("b", "No."),
    ("c", "Thanks for asking: yes."),
    ("d", "Read the terms."),
    ("e", "Thank you!"),
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    return install(monkeypatch)


@pytest.fixture
def golden() -> str:
    """Golden data that carries what the agent said."""
    rows: list[dict[str, object]] = [
        {
            "eval_id": case,
            "session_id": f"s-{case}",
            "user_inputs": [f"Question {case}?"],
            "final_response": answer,
            "reference_data": {},
        }
        for case, answer in ROWS
    ]
    Path("golden.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return "golden.jsonl"


def labels(text: str) -> str:
    Path("labels.csv").write_text(text)
    return "labels.csv"


def test_judge_is_asked_only_about_labelled_answers(golden: str, model: ScriptedModel):
    file = labels("case,label\na,pass\nb,fail\nc,fail\n")
    result = calibration.calibrate(
        file, golden=golden, metrics=["test_tone"], judge="local:scripted"
    )
    assert len(model.requests) == 3
    assert result.agreement.confusion.counts == ((1.0, 1.0), (0.0, 1.0))
    assert [(disagreement.case, disagreement.reason) for disagreement in result.disagreements] == [
        ("c", "thanks")
    ]
    assert isinstance(result.metric.judge, JudgeSpec)
    assert result.metric.judge.model == "local:scripted"
    assert result.created_at == "2026-05-28T20:26:40Z"
    assert result.dataset is not None
    assert result.dataset.name == "golden"


def test_cached_answer_is_not_asked_again(golden: str, model: ScriptedModel):
    file = labels("case,label\na,pass\nb,fail\n")
    first, second = (
        calibration.calibrate(
            file,
            golden=golden,
            metrics=["test_tone"],
            judge="local:scripted",
            answers="store.db",
        )
        for _ in range(2)
    )
    assert len(model.requests) == 2
    assert first == second


def test_labels_may_name_a_metric(golden: str, model: ScriptedModel):
    file = labels("case,label,metric\na,pass,test_tone\nb,fail,test_tone\n")
    result = calibration.calibrate(file, golden=golden, judge="local:scripted")
    assert result.metric.name == "test_tone"


def test_without_golden_data_or_a_run_is_an_error(model: ScriptedModel):
    with pytest.raises(UsageError, match="no golden data for the labels") as caught:
        calibration.calibrate(labels("case,label\na,pass\n"), metrics=["test_tone"])
    assert "--run" in str(caught.value.hint)


def test_missing_judge_is_an_error_with_a_hint(golden: str, model: ScriptedModel):
    with pytest.raises(UsageError, match="no judge is configured for test_tone") as caught:
        calibration.calibrate(labels("case,label\na,pass\n"), golden=golden, metrics=["test_tone"])
    assert "--judge PROVIDER:MODEL" in str(caught.value.hint)


def test_reached_limit_is_reported_and_the_rest_is_unscored(golden: str, model: ScriptedModel):
    problems: list[Problem] = []
    result = calibration.calibrate(
        labels("case,label\na,pass\nb,fail\nc,pass\nd,fail\ne,pass\n"),
        golden=golden,
        metrics=["test_tone"],
        judge=settings.settings(
            metrics=["test_tone"], judge={"model": "local:scripted", "max_calls": 3}
        ).judge,
        report=problems.append,
    )
    assert len(result.unjudged.unscored) == 2
    assert "stopped before all answers were judged" in problems[-1].message


def test_offline_metric_can_be_calibrated():
    use = metric("contains", by=None, scale=(0.0, 1.0), threshold=1.0)
    file = labels("case,label\na,pass\nb,fail\n")
    result = calibration.calibrate(file, run=judged({"a": 1.0, "b": 0.0}, use))
    assert not result.metric.judge
    assert result.agreement.share.value == 1.0


def test_unknown_metric_is_an_error(golden: str):
    with pytest.raises(UsageError, match="'containz'"):
        calibration.calibrate(labels("case,label\na,pass\n"), golden=golden, metrics=["containz"])


def test_existing_run_needs_no_call():
    run = judged({"a": 5.0, "b": 1.0, "c": 2.0})
    result = calibration.calibrate(labels("case,label\na,5\nb,1\nc,2\n"), run=run)
    assert result.run == run.id
    assert result.agreement.share.value == 1.0
    assert result.digest.startswith("sha256:")


def test_only_judge_of_several_metrics_is_the_default():
    offline = metric("exact", by=None, scale=(0.0, 1.0))
    run = judged({"a": 5.0, "b": 1.0}, metric(), offline)
    assert calibration.calibrate(labels("case,label\na,5\nb,1\n"), run=run).metric.name == "tone"


@pytest.mark.parametrize(
    ("text", "metrics", "message", "hint"),
    [
        ("case,label\na,5\n", (), "no single metric", "-m: tone, clarity"),
        ("case,label,metric\na,5,tone\na,4,clarity\n", (), "no single metric", "tone, clarity"),
        ("case,label,metric\na,5,tome\n", (), "labels.csv line 2: metric is 'tome'", "'tone'"),
        ("case,label\na,5\n", ("tona",), "run-judged has no metric 'tona'", "'tone'"),
    ],
)
def test_ambiguous_metric_is_an_error(text: str, metrics: tuple[str, ...], message: str, hint: str):
    run = judged({"a": 5.0}, metric(), metric("clarity"))
    with pytest.raises(UsageError) as caught:
        calibration.calibrate(labels(text), run=run, metrics=metrics)
    assert message in str(caught.value)
    assert hint in str(caught.value.hint)


def test_only_labels_of_the_metric_are_used():
    run = judged({"a": 5.0, "b": 1.0}, metric(), metric("clarity"))
    file = labels("case,label,metric\na,5,tone\na,1,clarity\nb,1,\n")
    result = calibration.calibrate(file, run=run, metrics=["tone"])
    assert result.agreement.share.value == 1.0


def test_duplicate_metric_is_an_error():
    run = judged({"a": 5.0}, metric(), metric(params={"strict": True}))
    with pytest.raises(UsageError, match="has 2 metrics named 'tone'"):
        calibration.calibrate(labels("case,label\na,5\n"), run=run)


@pytest.mark.parametrize(("threshold", "share"), [(None, 0.5), (3.0, 1.0)])
def test_different_threshold_can_be_tried(threshold: float | None, share: float):
    run = judged({"a": 3.0, "b": 1.0})
    file = labels("case,label\na,pass\nb,fail\n")
    result = calibration.calibrate(file, run=run, threshold=threshold)
    assert result.agreement.share.value == share
    assert result.metric.threshold == (threshold or 4.0)


@pytest.mark.parametrize(("least", "good"), [(0.3, True), (0.9, False)])
def test_lower_bound_decides(least: float, good: bool):
    scores = {f"c{n}": 5.0 if n % 2 else 1.0 for n in range(20)}
    text = "case,label\n" + "".join(f"{case},{score:g}\n" for case, score in scores.items())
    result = calibration.calibrate(labels(text), run=judged(scores))
    assert calibration.agrees(result, least) is good


def test_metric_spec_comes_from_the_run():
    use: MetricSpec = metric(params={"strict": True})
    assert (
        calibration.calibrate(labels("case,label\na,5\n"), run=judged({"a": 5.0}, use)).metric
        == use
    )
