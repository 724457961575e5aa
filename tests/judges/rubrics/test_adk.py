"""Judge settings from the config files of ADK and agentevals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob import plugins
from carob.config import load_config
from carob.errors import UsageError
from carob.judges.rubrics.adk import qualify_model
from carob.judges.rubrics.judge import RubricJudge
from carob.metrics import build, metric_parameters

MATCH = "final_response_match_v2"


def build_judge(name: str, **params: object) -> RubricJudge:
    built = build(name, params, plugins.metrics())  # pyright: ignore[reportArgumentType] - JSON
    assert isinstance(built, RubricJudge)
    return built


def from_file(folder: Path, document: object) -> RubricJudge:
    path = folder / "test_config.json"
    path.write_text(json.dumps(document))
    (choice,) = load_config(path).metrics
    return build_judge(choice.name, **choice.params)


def test_criterion_of_adk_names_model_and_samples(tmp_path: Path):
    options = {"judgeModel": "gemini-2.5-flash", "numSamples": 3, "parallelism_limit": 4}
    criterion = {"threshold": 0.5, "judgeModelOptions": options}
    judge = from_file(tmp_path, {"criteria": {MATCH: criterion}})
    assert judge.judge_model == "google:gemini-2.5-flash"
    assert judge.sample_count == 3
    assert build(MATCH, metric_parameters(judge), plugins.metrics()) == judge


def test_rubrics_of_an_adk_criterion_are_read(tmp_path: Path):
    rubric = {"rubric_id": "r", "rubric_content": {"text_property": "It is short."}}
    name = "rubric_based_final_response_quality_v1"
    judge = from_file(tmp_path, {"criteria": {name: {"threshold": 0.5, "rubrics": [rubric]}}})
    assert judge.rubric != build_judge(name).rubric
    assert judge.sample_count == 5


def test_evaluator_of_agentevals_names_model_and_rubrics(tmp_path: Path):
    pytest.importorskip("yaml")
    path = tmp_path / "eval_config.yaml"
    path.write_text(
        "evaluators:\n  - name: rubric_based_tool_use_quality_v1\n    type: builtin\n"
        "    judge_model: gemini-2.5-flash\n    rubrics: [Looks the order up first]\n"
    )
    (choice,) = load_config(path).metrics
    judge = build_judge(choice.name, **choice.params)
    assert judge.judge_model == "google:gemini-2.5-flash"


def test_defaults_are_those_of_adk():
    assert build_judge(MATCH).sample_count == 5
    assert build_judge(MATCH).judge_model is None
    assert build_judge("hallucinations_v1").sample_count == 1


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("gemini/gemini-2.5-pro", "google:gemini-2.5-pro"),
        ("openai/gpt-5", "openai:gpt-5"),
        ("gpt-5-mini", "openai:gpt-5-mini"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("local:judge.gguf", "local:judge.gguf"),
    ],
)
def test_model_gets_its_provider(name: str, model: str):
    assert qualify_model(name) == model
    assert qualify_model(model) == model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge_mode": "x"}, "judge_model_options: Object contains unknown field `judge_mode`"),
        ({"num_samples": 0}, "judge_model_options.num_samples: Expected `int` >= 1"),
        ({"judge_model": "llama"}, "judge_model: 'llama' has no provider"),
        ({"judge_model_config": {"temperature": 1}}, "judge_model_config is not supported"),
    ],
)
def test_invalid_option_is_an_error_before_anything_runs(options: dict[str, object], message: str):
    with pytest.raises(UsageError) as caught:
        build_judge(MATCH, judge_model_options=options)
    assert message in caught.value.message


def test_too_many_samples_are_an_error():
    with pytest.raises(UsageError, match="samples"):
        build_judge("Relevance", samples=26)
