from __future__ import annotations

from pathlib import Path

import pytest

from carob.config import load_config
from carob.config.key_variables import is_key_variable
from carob.config.trust import trust_digest
from carob.errors import FormatError
from carob.schema import JudgeSettings, TargetSettings

JUDGE = (
    '[judge]\nmodel = "openai:m"\nurl = "https://x.example.com/v1"\nkey_env = "OPENAI_API_KEY"\n'
)


def write_config(folder: Path, text: str) -> Path:
    path = folder / "carob.toml"
    path.write_text(text)
    return path


def test_sensitive_settings_have_no_effect_without_trust(tmp_path: Path):
    config = load_config(write_config(tmp_path, JUDGE + "max_calls = 5\n"))
    assert config.judge == JudgeSettings(model="openai:m", max_calls=5)
    assert [setting.shown for setting in config.withheld] == [
        "judge.url = https://x.example.com/v1",
        "judge.key_env = OPENAI_API_KEY",
    ]


def test_sensitive_settings_have_effect_with_trust(tmp_path: Path):
    config = load_config(write_config(tmp_path, JUDGE), trust=lambda path, settings: True)
    assert config.judge == JudgeSettings(
        model="openai:m", url="https://x.example.com/v1", key_env="OPENAI_API_KEY"
    )
    assert config.withheld == ()


def test_trust_covers_sensitive_settings_and_no_others(tmp_path: Path):
    def digest(text: str) -> str:
        return trust_digest(load_config(write_config(tmp_path, text)).withheld)

    assert digest(JUDGE) == digest(f"# note\n{JUDGE}max_calls = 7\n")
    assert digest(JUDGE) != digest(JUDGE.replace("x.example", "y.example"))
    assert digest(JUDGE) != digest(JUDGE.replace("OPENAI_API_KEY", "OPENAI_OTHER_KEY"))


@pytest.mark.parametrize("text", ['judge = "local:a.gguf"', '[judge]\nmodel = "local:a.gguf"'])
def test_file_of_a_model_needs_trust(tmp_path: Path, text: str):
    config = load_config(write_config(tmp_path, text))
    assert config.judge == JudgeSettings()
    assert config.withheld[0].shown.endswith("= local:a.gguf")


def test_secret_in_a_setting_is_not_shown(tmp_path: Path):
    text = '[judge]\nurl = "https://me:hunter2@x.example.com/v1?token=abc#d"'
    (setting,) = load_config(write_config(tmp_path, text)).withheld
    assert setting.shown == "judge.url = https://x.example.com/v1"
    (setting,) = load_config(write_config(tmp_path, '[judge]\nurl = "hunter2"')).withheld
    assert "hunter2" not in setting.shown


def test_key_that_is_pasted_instead_of_its_variable_is_not_shown(tmp_path: Path):
    text = '[judge]\nmodel = "openai:m"\nkey_env = "sk-proj-hunter2"'
    with pytest.raises(FormatError, match="the value is not a variable for a key") as caught:
        load_config(write_config(tmp_path, text))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("OPENAI_API_KEY", "openai:m"),
        ("OPENAI_KEY_OF_THE_SHOP", "openai:m"),
        ("GROQ_API_KEY", "openai:m"),
        ("AZURE_OPENAI_API_KEY", "azure:m"),
        ("ANTHROPIC_API_KEY", "anthropic:m"),
        ("GEMINI_API_KEY", "google:m"),
        ("GOOGLE_API_KEY", "google:m"),
        ("AWS_BEARER_TOKEN_BEDROCK", "bedrock:m"),
        ("CAROB_JUDGE_KEY", "anthropic:m"),
        ("HOUSE_MODELS_KEY", "house-models:m"),
        ("ANTHROPIC_API_KEY", None),
    ],
)
def test_variable_of_the_provider_may_hold_its_key(name: str, model: str | None):
    assert is_key_variable(name, model)


@pytest.mark.parametrize("model", [None, "openai:m", "azure:m", "google:m", "bedrock:m", "aws:m"])
@pytest.mark.parametrize(
    "name",
    [
        "GITHUB_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "STRIPE_API_KEY",
        "DATABASE_URL",
        "XOPENAI_API_KEY",
        "openai_api_key",
        "OPENAI_API_KEY\n",
        "",
    ],
)
def test_other_secrets_are_refused_as_keys(name: str, model: str | None):
    assert not is_key_variable(name, model) or (name.startswith("AWS_") and model == "aws:m")


def test_variable_of_another_provider_is_refused_with_a_way_out(tmp_path: Path):
    text = '[judge]\nmodel = "anthropic:m"\nkey_env = "GITHUB_TOKEN"'
    with pytest.raises(FormatError) as caught:
        load_config(write_config(tmp_path, text))
    assert caught.value.message == "'GITHUB_TOKEN' is not a variable for a key of anthropic"
    assert caught.value.hint == "pass it with --judge-key-env, or rename it to CAROB_…"


def test_replaced_weights_end_trust(tmp_path: Path):
    weights = tmp_path / "judge.gguf"
    digests: list[str] = []
    for content in (b"GGUF good", b"GGUF evil"):
        weights.write_bytes(content)
        config = write_config(tmp_path, f'judge = "local:{weights}"\n')
        digests.append(trust_digest(load_config(config).withheld))
    assert digests[0] != digests[1]


def test_host_that_only_looks_familiar_is_shown_escaped(tmp_path: Path):
    config = write_config(tmp_path, '[judge]\nurl = "https://\u0430pi.openai.com/v1"\n')
    (setting,) = load_config(config).withheld
    assert setting.shown == "judge.url = https://\\u0430pi.openai.com/v1"


TARGET = """\
[target]
name = "python:agents/shop.py:answer"
url = "https://me:hunter2@shop.example.com/v1?token=abc"
key_env = "SHOP_AGENT_TOKEN"
turn_timeout = 9
[target.headers]
X-Tenant = "CAROB_TENANT"
[target.options]
path = "/chat"
"""


def test_target_has_no_effect_without_trust(tmp_path: Path):
    config = load_config(write_config(tmp_path, TARGET))
    assert config.target == TargetSettings(turn_timeout=9)
    assert sorted(setting.shown for setting in config.withheld) == [
        "target.headers.X-Tenant = CAROB_TENANT",
        "target.key_env = SHOP_AGENT_TOKEN",
        "target.name = python:agents/shop.py:answer",
        "target.options = (16 characters, hidden because they may be a secret)",
        "target.url = https://shop.example.com/v1",
    ]


def test_trusted_target_has_its_options(tmp_path: Path):
    config = load_config(write_config(tmp_path, TARGET), trust=lambda path, settings: True)
    assert config.target
    assert config.target.options == {"path": "/chat"}


@pytest.mark.parametrize(
    "name",
    [
        "python:agent.py:answer",
        "python:agent:answer",
        "adk:agent:root_agent",
        "http:agent.py",
        "command:python agent.py",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        'target = "{}"',
        '[target]\nname = "{}"',
        '[targets.x]\nname = "{}"',
        '[matrix.target]\na = "{}"',
    ],
)
def test_code_of_a_target_is_trusted_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
):
    """A pull request that leaves the name alone and changes the code needs trust again."""
    monkeypatch.chdir(tmp_path)
    config = write_config(tmp_path, text.format(name) + "\n")
    digests = {trust_digest(load_config(config).withheld)}
    for code in ("def answer(): ...", "import os; os.system('curl evil')"):
        Path("agent.py").write_text(code)
        digests.add(trust_digest(load_config(config).withheld))
    assert len(digests) == 3


@pytest.mark.parametrize(
    "name", ["python:" + "a" * 5000 + ":f", "command:'", "python:a\\u0000b:f", "adk:"]
)
def test_name_of_a_target_that_cannot_be_a_file_is_still_shown(tmp_path: Path, name: str):
    (setting,) = load_config(write_config(tmp_path, f'target = "{name}"\n')).withheld
    assert setting.name == "target"


TARGETS = TARGET.replace("[target", "[targets.shop")


def test_named_target_has_no_effect_without_trust(tmp_path: Path):
    config = load_config(write_config(tmp_path, TARGETS))
    assert config.targets == {"shop": TargetSettings(turn_timeout=9)}
    assert sorted(setting.shown for setting in config.withheld) == [
        "targets.shop.headers.X-Tenant = CAROB_TENANT",
        "targets.shop.key_env = SHOP_AGENT_TOKEN",
        "targets.shop.name = python:agents/shop.py:answer",
        "targets.shop.options = (16 characters, hidden because they may be a secret)",
        "targets.shop.url = https://shop.example.com/v1",
    ]


@pytest.mark.parametrize("setting", ['key_env = "GITHUB_TOKEN"', 'headers = {X = "GITHUB_TOKEN"}'])
def test_target_cannot_name_any_secret(tmp_path: Path, setting: str):
    text = f'[target]\nname = "python:agent.py:answer"\n{setting}\n'
    with pytest.raises(FormatError, match="'GITHUB_TOKEN' is not a variable for the key of an"):
        load_config(write_config(tmp_path, text))


@pytest.mark.parametrize(
    ("target", "shown"),
    [
        ("adk:http://me:hunter2@127.0.0.1:8000/shop?key=1", "adk:http://127.0.0.1:8000/shop"),
        ("chat:gpt-5-mini", "chat:gpt-5-mini"),
        ("python:shop.agent:answer", "python:shop.agent:answer"),
    ],
)
def test_target_is_shown_without_secrets(tmp_path: Path, target: str, shown: str):
    (setting,) = load_config(write_config(tmp_path, f'target = "{target}"\n')).withheld
    assert setting.shown == f"target = {shown}"
