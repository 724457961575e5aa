from __future__ import annotations

import json
from pathlib import Path

import pytest

import carob
from carob.api.running.unfinished import StoredBatches
from carob.errors import UsageError
from carob.metrics.text.overlap import RougeL
from carob.runner.checkpoint import Checkpoint
from carob.schema import Json


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A row that carries its trace, in a folder where every batch is kept and outlasts its run."""
    row: dict[str, Json] = {
        "case_id": "a-1",
        "question": "Where is order 7?",
        "model_answer": "In two days.",
        "reference_answer": "It arrives in two days.",
        "required_evals": [],
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Checkpoint.__init__, "__kwdefaults__", {"patience": 0.0})
    monkeypatch.setattr(StoredBatches, "close", keep)
    return tmp_path / "rows.jsonl"


def keep(_batches: StoredBatches) -> None:
    pass


def profile(path: Path, composite: float) -> str:
    path.write_text(
        f"scale = [0, 1]\ncomposite = {composite}\n"
        "[metrics.response_match_score]\nthreshold = 0\nweight = 1\n"
    )
    return str(path)


def test_run_is_not_resumed_with_results_of_another_profile(golden: Path):
    easy, hard = profile(golden.with_name("easy.toml"), 0.1), profile(Path("hard.toml"), 1)
    first = carob.run(golden=golden, metrics=["response_match_score"], profile=easy)
    again = carob.run(golden=golden, metrics=["response_match_score"], profile=hard, resume=True)
    assert [run.verdict for run in (first, again)] == ["passed", "failed"]


def test_unknown_profile_is_reported_with_the_case_that_names_it(golden: Path):
    row = json.loads(golden.read_text()) | {"threshold_profile": "prep_defualt"}
    golden.write_text(json.dumps(row))
    with pytest.raises(UsageError) as caught:
        carob.run(golden=golden, metrics=["response_match_score"])
    assert str(caught.value) == "case 'a-1': unknown profile 'prep_defualt'"
    assert caught.value.hint == "did you mean 'prep_default'?"


def test_failed_metric_prevents_a_pass(golden: Path, monkeypatch: pytest.MonkeyPatch):
    def broken(self: object, case: object, trace: object) -> None:
        raise RuntimeError("no luck")

    monkeypatch.setattr(RougeL, "score", broken)
    both = golden.with_name("both.toml")
    profile(both, 0.1)
    both.write_text(both.read_text() + "[metrics.rouge_l]\nthreshold = 0\nweight = 1\n")
    names = ["response_match_score", "rouge_l"]
    (result,) = carob.run(golden=golden, metrics=names, profile=str(both)).cases
    assert result.judgement
    assert (result.judgement.passed, result.status) == (False, "error")
    assert result.judgement.reason == "Not scored: rouge_l"
