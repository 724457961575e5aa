from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.config import MetricChoice, load_config
from carob.errors import FormatError

TACT: dict[str, Any] = {
    "metric_type": "llm",
    "agents": ["front_desk"],
    "score_range": {"min": 0, "max": 5, "description": "0=rude, 5=kind"},
    "dataset_mapping": {
        "prompt": {"source_column": "user_inputs"},
        "response": {"source_column": "extracted_data:tool_interactions", "default": "none"},
    },
    "template": "How kind is {response} as an answer to {prompt}?",
    "use_gemini_format": False,
}


def load(folder: Path, metrics: object, **others: object) -> tuple[MetricChoice, ...]:
    path = folder / "metric_definitions.json"
    path.write_text(json.dumps({"metrics": metrics, **others}))
    config = load_config(path)
    assert config.dialect == "definitions"
    return config.metrics


def test_definition_is_preserved_with_unknown_keys(tmp_path: Path):
    assert load(tmp_path, {"tact": TACT}) == (MetricChoice(name="tact", definition=TACT),)


def test_prefix_of_the_file_applies_to_each_definition(tmp_path: Path):
    (choice,) = load(tmp_path, {"tact": TACT}, metric_prefix="shop")
    assert choice.definition == {"metric_prefix": "shop"} | TACT


def test_managed_metric_needs_no_template(tmp_path: Path):
    managed = {"is_managed": True, "managed_metric_name": "GENERAL_QUALITY"}
    (choice,) = load(tmp_path, {"quality": managed})
    assert choice.definition == managed


def test_comments_are_not_metrics(tmp_path: Path):
    assert len(load(tmp_path, {"_comment": "of the shop", "tact": TACT})) == 1


def test_placeholder_may_be_filled_from_several_columns(tmp_path: Path):
    several: dict[str, Any] = {
        "template": "In {extracted_data_city}",
        "source_columns": ["extracted_data:city"],
    }
    own: dict[str, Any] = TACT | {"dataset_mapping": {"response": several}}
    assert load(tmp_path, {"tact": own}) == (MetricChoice(name="tact", definition=own),)


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"tempalte": "x"}, "metrics.tact.tempalte: unknown key", "did you mean 'template'?"),
        ({"agents": 3}, "metrics.tact.agents: expected a list, got 3", ""),
        ({"score_range": {"min": 0}}, "metrics.tact.score_range: missing key 'max'", ""),
        ({"score_range": {"min": 5, "max": 0}}, "score_range: invalid range from 5 to 0", ""),
        (
            {"dataset_mapping": {"prompt": {"source_colum": "x"}}},
            "metrics.tact.dataset_mapping.prompt: missing key 'source_column'",
            "'source_colum'",
        ),
        (
            {"dataset_mapping": {"prompt": {"source_columns": ["user_inputs"]}}},
            "metrics.tact.dataset_mapping.prompt: missing key 'template'",
            "",
        ),
        ({"is_managed": True}, "metrics.tact: missing key 'managed_metric_name'", ""),
        ({"is_managed": "yes"}, "is_managed: expected true or false, got 'yes'", ""),
    ],
)
def test_mistake_is_located(tmp_path: Path, changes: dict[str, object], message: str, hint: str):
    with pytest.raises(FormatError) as caught:
        load(tmp_path, {"tact": {**TACT, **changes}})
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
