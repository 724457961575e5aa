from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.config import Config, MetricChoice, load_config
from carob.errors import FormatError
from carob.schema import EvaluatorSettings

FULL = """
evaluators:
  - name: tool_trajectory_avg_score
    type: builtin
    threshold: 0.8
    trajectory_match_type: in_order
  - name: rubric_based_tool_use_quality_v1
    type: builtin
    judge_model: gemini-2.5-flash
    rubrics: [Looks the order up first]
  - name: tact
    type: code
    path: ./tact.py
    config: {tone: warm}
eval_set: golden/eval_set.json
trace_format: otlp-json
output: json
"""


def load(folder: Path, text: str) -> Config:
    path = folder / "eval_config.yaml"
    path.write_text(text)
    return load_config(path)


def test_every_setting_is_read(tmp_path: Path):
    config = load(tmp_path, FULL)
    assert (config.dialect, config.golden) == ("agentevals", "golden/eval_set.json")
    assert config.metrics == (
        MetricChoice(
            name="tool_trajectory_avg_score", params={"match_type": "IN_ORDER"}, threshold=0.8
        ),
        MetricChoice(
            name="rubric_based_tool_use_quality_v1",
            params={"judge_model": "gemini-2.5-flash", "rubrics": ["Looks the order up first"]},
        ),
        MetricChoice(
            name="tact",
            threshold=0.5,
            evaluator=EvaluatorSettings(kind="agentevals", config={"tone": "warm"}, threshold=0.5),
        ),
    )


def test_json_is_accepted(tmp_path: Path):
    entry = {"name": "response_match_score", "type": "builtin"}
    config = load(tmp_path, json.dumps({"evaluators": [entry]}))
    assert config.metrics == (MetricChoice(name="response_match_score"),)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("evaluater: []", "evaluater: unknown key 'evaluater'", "did you mean 'evaluators'?"),
        ("evaluators: {a: 1}", "evaluators: expected a list", ""),
        ("evaluators: [a]", "evaluators[0]: expected a table, got 'a'", ""),
        ("evaluators: [{type: builtin}]", "evaluators[0]: missing key 'name'", ""),
        ("evaluators: [{name: a}]", "evaluators[0]: missing key 'type'", ""),
        (
            "evaluators: [{name: a, type: bultin}]",
            "unknown type 'bultin'; expected one of: builtin, code, remote",
            "did you mean 'builtin'?",
        ),
        (
            "evaluators: [{name: a, type: builtin, thresold: 1}]",
            "evaluators[0].thresold: unknown key 'thresold'",
            "did you mean 'threshold'?",
        ),
        (
            "evaluators: [{name: a, type: builtin, threshold: 5}]",
            "evaluators[0].threshold: expected a number from 0 to 1, got 5.0",
            "",
        ),
        ("evaluators: [{name: a, type: remote}]", "evaluators[0]: missing key 'ref'", ""),
        (
            "evaluators: [{name: a, type: remote, ref: a}]",
            "evaluators[0].type: evaluators are not downloaded",
            "use `type: code`",
        ),
        (
            "evaluators: [{name: a, type: code, path: a.py, timeout: 0}]",
            "evaluators[0].timeout: expected a number above 0, got 0",
            "",
        ),
        (
            "evaluators: [{name: a, type: builtin}, {name: a, type: builtin}]",
            "evaluators: duplicate evaluator 'a'",
            "",
        ),
        ("metrics: [a]", "metrics: 'metrics' is no longer supported", "`evaluators`"),
        (
            "eval_set: https://x.example/a.json",
            "eval_set: expected a path",
            "URLs are not",
        ),
    ],
)
def test_mistake_is_located(tmp_path: Path, text: str, message: str, hint: str):
    with pytest.raises(FormatError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
