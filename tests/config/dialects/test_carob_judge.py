from __future__ import annotations

from pathlib import Path

import pytest

from carob.config import load_config
from carob.errors import FormatError
from carob.schema import JudgeSettings


def judge(folder: Path, text: str) -> JudgeSettings | None:
    path = folder / "carob.toml"
    path.write_text(f"{text}\n[metrics.Relevance]\nthreshold = 3.0\n", "utf-8")
    return load_config(path).judge


def test_judge_may_be_a_name(tmp_path: Path):
    assert judge(tmp_path, 'judge = "openai:gpt-5-mini"') == JudgeSettings(
        model="openai:gpt-5-mini"
    )


def test_judge_may_be_a_table(tmp_path: Path):
    text = """
    [judge]
    model = "openai:large"
    url = "http://127.0.0.1:8000/v1"
    key_env = "LARGE_KEY"
    temperature = 0.5
    max_tokens = 300
    concurrency = 4
    deadline = 12.5
    max_calls = 100
    max_cost = 2
    """
    assert judge(tmp_path, text) == JudgeSettings(
        model="openai:large",
        url="http://127.0.0.1:8000/v1",
        key_env="LARGE_KEY",
        temperature=0.5,
        max_tokens=300,
        concurrency=4,
        deadline=12.5,
        max_calls=100,
        max_cost=2,
    )


def test_limits_apply_without_a_default_model(tmp_path: Path):
    assert judge(tmp_path, "[judge]\nmax_calls = 5") == JudgeSettings(max_calls=5)


def test_without_a_judge_there_are_no_settings(tmp_path: Path):
    assert judge(tmp_path, "") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("judge = 3", "judge: expected text, got 3"),
        ("[judge]\nmax_calls = 0", "expected a positive whole number, got 0"),
        ("[judge]\nconcurrency = 1.5", "expected a positive whole number, got 1.5"),
        ("[judge]\nmax_cost = -1", "expected a number above 0, got -1"),
        ('[judge]\napi_key = "sk-made-up"', "unknown key 'api_key'"),
        ('[judge]\nmodle = "openai:x"', "unknown key 'modle'"),
    ],
)
def test_mistake_is_located(tmp_path: Path, text: str, message: str):
    with pytest.raises(FormatError) as caught:
        judge(tmp_path, text)
    assert message in str(caught.value)
    assert "sk-made-up" not in str(caught.value)
