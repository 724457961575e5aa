"""Grader files of OpenAI."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.errors import CarobError
from carob.evaluators.graders import grader_class
from carob.metrics import Outcome, evaluate
from carob.schema import Case, EvaluatorSettings, Failed, Score, Trace, Turn, Unscored

CASE = Case.of("Capital of France?", "Paris", id="paris", metadata={"country": "France"})
CHECK = {
    "type": "string_check",
    "name": "exact",
    "input": "{{sample.output_text}}",
    "reference": "{{item.answer}}",
    "operation": "ilike",
}
CODE = {
    "type": "python",
    "source": "def grade(sample, item):\n    return 0.5 * (item['country'] == 'France')",
}


def grade(folder: Path, grader: dict[str, Any], answer: str = "It is PARIS.") -> Outcome:
    file = folder / "grader.json"
    file.write_text(json.dumps(grader), "utf-8")
    kind: Any = grader_class(EvaluatorSettings(kind="openai", file=str(file)))
    metric = kind()
    try:
        trace = Trace(id="t", turns=(Turn(user="Capital of France?", response=answer),))
        return evaluate(pickle.loads(pickle.dumps(metric)), CASE, trace)  # noqa: S301
    finally:
        metric.close()


@pytest.mark.parametrize(
    ("operation", "answer", "score"),
    [
        ("eq", "Paris", 1.0),
        ("eq", "paris", 0.0),
        ("ne", "paris", 1.0),
        ("like", "It is Paris.", 1.0),
        ("like", "It is PARIS.", 0.0),
        ("ilike", "It is PARIS.", 1.0),
    ],
)
def test_string_check(tmp_path: Path, operation: str, answer: str, score: float):
    assert grade(tmp_path, CHECK | {"operation": operation}, answer) == Score(score)


def test_text_similarity(tmp_path: Path):
    grader = CHECK | {"type": "text_similarity", "evaluation_metric": "rouge_l"}
    outcome = grade(tmp_path, grader, "It is Paris")
    assert isinstance(outcome, Score)
    assert outcome.value == pytest.approx(0.5)


def test_python_grader_runs_in_a_process(tmp_path: Path):
    assert grade(tmp_path, CODE) == Score(0.5)
    outcome = grade(tmp_path, CODE | {"source": "def grade(sample, item): return item['town']"})
    assert outcome == Failed("EvaluatorError", "KeyError: 'town' (grader line 1)")


def test_multi_combines_its_graders(tmp_path: Path):
    formula = "0.5 * exact + min(code, 1)"
    grader = {
        "type": "multi",
        "graders": {"exact": CHECK, "code": CODE},
        "calculate_output": formula,
    }
    assert grade(tmp_path, grader) == Score(1.0, reason="exact 1, code 0.5")
    outcome = grade(tmp_path, grader | {"calculate_output": "__import__('os').getcwd()"})
    assert isinstance(outcome, Failed)
    assert "unsupported in calculate_output" in outcome.message


def test_missing_field_of_the_item_is_unscored(tmp_path: Path):
    grader = CHECK | {"reference": "{{item.capital}}"}
    assert grade(tmp_path, grader) == Unscored("the case has no item.capital")


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ({"type": "score_model"}, "a grader of the type 'score_model' asks a model"),
        ({"type": "magic"}, "unknown grader 'magic'; expected one of: string_check"),
        ({"type": "python"}, "missing key 'source'"),
        (CHECK | {"operation": "near"}, "unsupported operation 'near'"),
        (
            CHECK | {"type": "text_similarity", "evaluation_metric": "meteor"},
            "unsupported evaluation_metric 'meteor'; expected one of: bleu, rouge_l",
        ),
    ],
)
def test_mistakes_are_located(tmp_path: Path, grader: dict[str, Any], message: str):
    with pytest.raises(CarobError) as caught:
        grade(tmp_path, grader)
    assert message in str(caught.value)
    assert "grader.json" in str(caught.value)


def test_grader_is_a_metric_of_a_run(tmp_path: Path):
    (tmp_path / "exact.json").write_text(json.dumps({"grader": CHECK}), "utf-8")
    scores = carob.score(CASE, "Paris, of course", metrics=f"openai:{tmp_path}/exact.json")
    assert scores["exact"] == 1.0
