from __future__ import annotations

import json
from pathlib import Path

import pytest

import karat
from karat.runner import journal
from karat.schema import Json


@pytest.fixture
def golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A row that carries its recording, in a folder whose journals outlast their runs."""
    row: dict[str, Json] = {
        "case_id": "a-1",
        "question": "Where is order 7?",
        "model_answer": "In two days.",
        "reference_answer": "It arrives in two days.",
        "required_evals": [],
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(journal.Journal, "close", journal.Journal.flush)
    return tmp_path / "rows.jsonl"


def profile(path: Path, composite: float) -> str:
    path.write_text(
        f"scale = [0, 1]\ncomposite = {composite}\n"
        "[metrics.response_match_score]\nthreshold = 0\nweight = 1\n"
    )
    return str(path)


def test_a_run_is_not_resumed_with_what_another_profile_judged(golden: Path):
    easy, hard = profile(golden.with_name("easy.toml"), 0.1), profile(Path("hard.toml"), 1)
    first = karat.run(golden=golden, metrics=["response_match_score"], profile=easy)
    again = karat.run(golden=golden, metrics=["response_match_score"], profile=hard, resume=True)
    assert [run.verdict for run in (first, again)] == ["passed", "failed"]
