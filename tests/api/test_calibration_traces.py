from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import msgspec
import pytest

from carob.api import calibration, runs
from carob.errors import EvaluationError

METRIC = "response_match_score"


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def labels(text: str) -> str:
    Path("labels.csv").write_text(text)
    return "labels.csv"


def test_traces_are_paired_and_scored_as_in_a_run():
    traces = ["traces/good.otlp.jsonl", "traces/regressed.otlp.jsonl"]
    file = labels(
        "case,label,trace\n"
        "warranty_frame,pass,good-warranty_frame\n"
        "warranty_frame,fail,regressed-warranty_frame\n"
        "order_status,pass,good-order_status\n"
    )
    golden = "support.evalset.json"
    result = calibration.calibrate(file, traces=traces, golden=golden, metrics=[METRIC])
    assert result.agreement.confusion.counts == ((0.5, 0.0), (0.0, 1.5))
    assert result.dataset == runs.run(traces, golden=golden).dataset


def test_label_without_a_trace_needs_a_case_with_one_trace():
    result = calibration.calibrate(
        labels("case,label\nwarranty_frame,fail\norder_status,pass\nwarranty_fork,pass\n"),
        traces=["traces/regressed.otlp.jsonl"],
        golden="support.evalset.json",
        metrics=[METRIC],
    )
    assert result.agreement.share.value == 1.0
    assert result.unjudged.absent == ("warranty_fork",)


def _turn(user: str, reply: str) -> dict[str, object]:
    return {
        "user_content": {"role": "user", "parts": [{"text": user}]},
        "final_response": {"role": "model", "parts": [{"text": reply}]},
    }


def test_ambiguous_trace_is_not_paired_with_the_labeled_case():
    answer = (("one", "Hi", "Hello"), ("two", "Hi", "Hello"), ("three", "Bye", "Bye"))
    cases = [
        {"eval_id": case, "conversation": [_turn(user, reply)]} for case, user, reply in answer
    ]
    document = {"eval_set_id": "greetings", "eval_cases": cases}
    Path("greetings.json").write_bytes(msgspec.json.encode(document))
    chats = [
        {"messages": [{"role": "user", "content": user}, {"role": "assistant", "content": answer}]}
        for user, answer in (("Hi", "Hello"), ("Bye", "No."))
    ]
    Path("chat.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, chats)))
    result = calibration.calibrate(
        labels("case,label\none,pass\nthree,fail\n"),
        traces=["chat.jsonl"],
        golden="greetings.json",
        metrics=[METRIC],
    )
    assert result.unjudged.absent == ("one",)
    assert result.agreement.cases == 1


def test_labels_of_a_different_dataset_are_an_error():
    with pytest.raises(EvaluationError) as caught:
        calibration.calibrate(
            labels("case,label\nwarranty,pass\n"),
            traces=["traces/good.otlp.jsonl"],
            golden="support.evalset.json",
            metrics=[METRIC],
        )
    assert str(caught.value) == (
        "support.evalset.json: no trace belongs to a labeled case; unknown case"
        " 'warranty' in the labels"
    )
