from __future__ import annotations

from pathlib import Path

import pytest

from carob.config import Config, MetricChoice, find_config, load_config
from carob.errors import FormatError
from carob.schema import JudgeSettings, TargetSettings

FULL = """
[run]
golden = "golden/eval_set.json"
traces = ["traces/*.json", "late.json"]
metrics = ["tool_trajectory_avg_score", "response_match_score"]

[metrics.tool_trajectory_avg_score]
match_type = "IN_ORDER"

[metrics.tool_usage_accuracy]
threshold = 0.9
order = "any"

[policy]
profile = "prep_default"
profiles = ["policies/support.toml"]
"""


def write_config(folder: Path, text: str) -> Path:
    path = folder / "carob.toml"
    path.write_text(text)
    return path


def test_every_setting_is_read(tmp_path: Path):
    (tmp_path / "traces").mkdir()
    for name in ("b.json", "a.json", "notes.txt"):
        (tmp_path / "traces" / name).touch()
    path = write_config(tmp_path, FULL)
    assert load_config(path) == Config(
        source=str(path),
        dialect="carob",
        golden=str(tmp_path / "golden/eval_set.json"),
        traces=tuple(
            str(tmp_path / name) for name in ("traces/a.json", "traces/b.json", "late.json")
        ),
        metrics=(
            MetricChoice(name="tool_trajectory_avg_score", params={"match_type": "IN_ORDER"}),
            MetricChoice(name="response_match_score"),
        ),
        unrequested=(
            MetricChoice(name="tool_usage_accuracy", params={"order": "any"}, threshold=0.9),
        ),
        profile="prep_default",
        profiles=(str(tmp_path / "policies/support.toml"),),
    )


def test_metrics_with_settings_are_the_default_selection(tmp_path: Path):
    config = load_config(
        write_config(tmp_path, "[metrics.cost]\n[metrics.latency]\nthreshold = 5\n")
    )
    assert [metric.name for metric in config.metrics] == ["cost", "latency"]
    assert config.unrequested == ()


def test_selected_metric_uses_its_settings_if_any(tmp_path: Path):
    config = load_config(write_config(tmp_path, FULL.replace('"traces/*.json", ', "")))
    assert config.choice("tool_usage_accuracy").threshold == 0.9
    assert config.choice("cost") == MetricChoice(name="cost")


def test_config_is_found_in_its_folder(tmp_path: Path):
    assert find_config(tmp_path) is None
    path = write_config(tmp_path, "")
    assert find_config(tmp_path) == path
    assert load_config(path).metrics == ()


def test_profile_path_is_relative_to_the_config(tmp_path: Path):
    config = load_config(write_config(tmp_path, '[policy]\nprofile = "own.toml"'))
    assert config.profile == str(tmp_path / "own.toml")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[runs]", "carob.toml line 1, runs: unknown key 'runs'", "did you mean 'run'?"),
        ("[run]\ngoldne = 'a'", "line 2, run.goldne: unknown key", "did you mean 'golden'?"),
        ("[run]\nmetrics = [1]", "run.metrics[0]: expected text, got 1", ""),
        ("[run]\nmetrics = ['a', 'a']", "run.metrics: duplicate metric 'a'", ""),
        ("[metrics]\ncost = 1", "metrics.cost: expected a table, got 1", ""),
        ("[metrics.cost]\nthreshold = '1'", "metrics.cost.threshold: expected a number", ""),
        (
            "[metrics.cost]\ntreshold = 1",
            "line 2, metrics.cost.treshold",
            "did you mean 'threshold'?",
        ),
        ("[policy]\nprofle = 'a'", "policy.profle: unknown key", "did you mean 'profile'?"),
        ("[run]\ngolden = 'https://x.example/a'", "run.golden: expected a path", "URLs"),
        ("[run]\ngolden = '../a.json'", "'../a.json' is outside of the folder", "command line"),
        ("[run]\ngolden = '/etc/hosts'", "'/etc/hosts' is outside of the folder", "command line"),
        ("[run]\ntraces = 'none/*.json'", "run.traces: no file matches 'none/*.json'", ""),
        ("[run]\ntraces = '../*.json'", "'../*.json' is outside of the folder", ""),
        ("[policy]\nprofile = '../a.toml'", "'../a.toml' is outside of the folder", ""),
    ],
)
def test_mistake_is_located(tmp_path: Path, text: str, message: str, hint: str):
    with pytest.raises(FormatError) as caught:
        load_config(write_config(tmp_path, text))
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")


def test_symlink_out_of_the_folder_is_refused(tmp_path: Path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.json").touch()
    (inner / "a.json").symlink_to(tmp_path / "secret.json")
    for text in ("golden = 'a.json'", "traces = '*.json'"):
        with pytest.raises(FormatError, match=r"'a\.json' is outside of the folder"):
            load_config(write_config(inner, f"[run]\n{text}"))


def read_judge(folder: Path, text: str) -> JudgeSettings | None:
    path = folder / "carob.toml"
    path.write_text(f"{text}\n[metrics.Relevance]\nthreshold = 3.0\n", "utf-8")
    return load_config(path, trust=lambda path, settings: True).judge


def test_judge_may_be_a_name(tmp_path: Path):
    assert read_judge(tmp_path, 'judge = "openai:gpt-5-mini"') == JudgeSettings(
        model="openai:gpt-5-mini"
    )


def test_judge_may_be_a_table(tmp_path: Path):
    text = """
    [judge]
    model = "openai:large"
    url = "http://127.0.0.1:8000/v1"
    key_env = "CAROB_LARGE_KEY"
    temperature = 0.5
    max_tokens = 300
    concurrency = 4
    deadline = 12.5
    max_calls = 100
    max_cost = 2
    """
    assert read_judge(tmp_path, text) == JudgeSettings(
        model="openai:large",
        url="http://127.0.0.1:8000/v1",
        key_env="CAROB_LARGE_KEY",
        temperature=0.5,
        max_tokens=300,
        concurrency=4,
        deadline=12.5,
        max_calls=100,
        max_cost=2,
    )


def test_limits_apply_without_a_default_model(tmp_path: Path):
    assert read_judge(tmp_path, "[judge]\nmax_calls = 5") == JudgeSettings(max_calls=5)


def test_without_a_judge_there_are_no_settings(tmp_path: Path):
    assert read_judge(tmp_path, "") is None


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
def test_judge_mistake_is_located(tmp_path: Path, text: str, message: str):
    with pytest.raises(FormatError) as caught:
        read_judge(tmp_path, text)
    assert message in str(caught.value)
    assert "sk-made-up" not in str(caught.value)


def test_targets_have_names(tmp_path: Path):
    text = """
[targets]
short = "python:agent.py:answer"
[targets.staging]
name = "adk:http://127.0.0.1:8000/shop"
concurrency = 2
"""
    config = load_config(write_config(tmp_path, text), trust=lambda path, settings: True)
    assert config.target is None
    assert config.targets == {
        "short": TargetSettings(name="python:agent.py:answer"),
        "staging": TargetSettings(name="adk:http://127.0.0.1:8000/shop", concurrency=2),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[targets."python:x"]\nname = "python:agent.py:answer"', "invalid name of a target"),
        ('[targets."a.b"]\nname = "python:agent.py:answer"', "invalid name of a target"),
        ("[targets.shop]\nretry = true", "no 'name'"),
        ('[targets.shop]\nname = "python:agent.py:answer"\nretries = 3', "unknown key 'retries'"),
        ("targets = 3", "expected"),
    ],
)
def test_wrong_target_is_an_error(tmp_path: Path, text: str, message: str):
    with pytest.raises(FormatError, match=message):
        load_config(write_config(tmp_path, text))
