from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from carob.config import MetricChoice, load_config
from carob.errors import FormatError
from carob.schema import EvaluatorSettings, Json, SensitiveSetting


def _trust(path: Path, settings: Sequence[SensitiveSetting]) -> bool:
    return bool(path and settings)


def load(folder: Path, document: Json) -> tuple[MetricChoice, ...]:
    path = folder / "test_config.json"
    path.write_text(json.dumps(document))
    config = load_config(path)
    assert config.dialect == "adk"
    return config.metrics


def test_criterion_is_a_threshold_or_a_table_with_a_threshold(tmp_path: Path):
    judge: dict[str, Json] = {"judge_model": "gemini-2.5-flash", "num_samples": 3}
    criteria: Json = {
        "tool_trajectory_avg_score": {"threshold": 1, "match_type": "IN_ORDER", "ignoreArgs": True},
        "response_match_score": 0.8,
        "final_response_match_v2": {"threshold": 0.5, "judgeModelOptions": judge},
    }
    assert load(tmp_path, {"criteria": criteria}) == (
        MetricChoice(
            name="tool_trajectory_avg_score",
            params={"match_type": "IN_ORDER", "ignoreArgs": True},
            threshold=1.0,
        ),
        MetricChoice(name="response_match_score", threshold=0.8),
        MetricChoice(
            name="final_response_match_v2", params={"judgeModelOptions": judge}, threshold=0.5
        ),
    )


@pytest.mark.parametrize("spelling", ["in_order", "in-order", " In Order "])
def test_match_type_accepts_every_spelling_of_adk(tmp_path: Path, spelling: str):
    (choice,) = load(tmp_path, {"criteria": {"m": {"threshold": 1, "matchType": spelling}}})
    assert choice.params == {"matchType": "IN_ORDER"}


def test_explicit_adk_default_is_not_a_parameter(tmp_path: Path):
    for value, params in ((False, {}), (True, {"includeIntermediateResponsesInFinal": True})):
        criterion: Json = {"threshold": 1, "includeIntermediateResponsesInFinal": value}
        (choice,) = load(tmp_path, {"criteria": {"m": criterion}})
        assert choice.params == params


def test_custom_metric_names_code_that_needs_trust(tmp_path: Path):
    own: dict[str, Json] = {"codeConfig": {"name": "shop.metrics.tact"}, "description": "Tact."}
    document: Json = {"criteria": {"tact": 0.5}, "customMetrics": {"tact": own}}
    withheld = EvaluatorSettings(kind="adk")
    assert load(tmp_path, document) == (
        MetricChoice(name="tact", threshold=0.5, evaluator=withheld),
    )
    config = load_config(tmp_path / "test_config.json", trust=_trust)
    trusted = EvaluatorSettings(kind="adk", function="shop.metrics.tact")
    assert config.metrics == (MetricChoice(name="tact", threshold=0.5, evaluator=trusted),)


def test_settings_of_live_agents_are_accepted(tmp_path: Path):
    simulator: Json = {"type": "llm_backed", "model": "gemini-2.5-flash"}
    live: Json = {"timeoutSeconds": 30}
    assert load(tmp_path, {"userSimulatorConfig": simulator, "live_model_config": live}) == ()


@pytest.mark.parametrize(
    ("document", "message", "hint"),
    [
        ({"critera": {"m": 1}}, "critera: unknown key 'critera'", "did you mean 'criteria'?"),
        ({"criteria": {"m": {"treshold": 1}}}, "criteria.m: missing key 'threshold'", "'treshold'"),
        ({"criteria": {"m": None}}, "criteria.m: expected a threshold or a table", ""),
        ({"criteria": {"m": "0.8"}}, "criteria.m: expected a number, got '0.8'", ""),
        ({"criteria": {"m": True}}, "criteria.m: expected a number, got True", ""),
        ({"criteria": [1]}, "criteria: expected a table, got [1]", ""),
        ({"customMetrics": {"m": {}}}, "customMetrics.m: missing key 'code_config'", ""),
    ],
)
def test_mistake_is_located(tmp_path: Path, document: Json, message: str, hint: str):
    with pytest.raises(FormatError) as caught:
        load(tmp_path, document)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
