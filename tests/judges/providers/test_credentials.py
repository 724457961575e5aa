from __future__ import annotations

from typing import Any

import pytest

from carob.errors import UsageError
from carob.judges.providers.credentials import VARIABLES, Credentials, find_credentials
from carob.schema import JudgeSettings

KEY = "tok-4f9a8b7c6d5e"
PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        name for variables in VARIABLES.values() for name in (*variables.keys, *variables.urls)
    ]
    for name in (*names, *PAIR, "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def credentials(model: str, **fields: Any) -> Credentials:
    return find_credentials(JudgeSettings(model=model, **fields))


def expect_error(model: str, **fields: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        credentials(model, **fields)
    return caught.value


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("anthropic:m", "ANTHROPIC_API_KEY"),
        ("google:m", "GOOGLE_API_KEY"),
        ("bedrock:m", "AWS_ACCESS_KEY_ID"),
    ],
)
def test_missing_key_is_named_by_its_variable(model: str, variable: str):
    error = expect_error(model)
    assert str(error) == f"{model}: missing API key"
    assert error.hint == f"set the environment variable {variable}"


def test_first_of_two_key_variables_is_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("GEMINI_API_KEY", "second")
    assert credentials("google:m").key == "the key in GEMINI_API_KEY"
    monkeypatch.setenv("GOOGLE_API_KEY", "first")
    assert credentials("google:m").secrets == {"GOOGLE_API_KEY": "first"}


def test_repr_does_not_show_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert KEY not in repr(credentials("anthropic:m"))


def test_default_key_is_not_sent_to_a_custom_url(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    error = expect_error("anthropic:m", url="https://elsewhere.example.com")
    assert error.hint == "name the environment variable of the key for that URL with `key_env`"
    monkeypatch.setenv("OTHER_KEY", "other")
    access = credentials("anthropic:m", url="https://elsewhere.example.com/", key_env="OTHER_KEY")
    assert access.url == "https://elsewhere.example.com"
    assert access.secrets == {"OTHER_KEY": "other"}


def test_url_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    assert credentials("anthropic:m").url is None
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080/")
    access = credentials("anthropic:m")
    assert access.url == "http://127.0.0.1:8080"
    assert access.loopback


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in PAIR:
        monkeypatch.setenv(name, f"{name}-value")
    return monkeypatch


def test_bedrock_needs_a_region(pair: pytest.MonkeyPatch):
    assert expect_error("bedrock:m").hint == "set AWS_REGION"
    pair.setenv("AWS_DEFAULT_REGION", "us-east-1")
    assert credentials("bedrock:m").region == "us-east-1"
    pair.setenv("AWS_REGION", "eu-central-1")
    assert credentials("bedrock:m").region == "eu-central-1"
    pair.setenv("AWS_REGION", "evil.example.com/")
    assert (
        str(expect_error("bedrock:m")) == "bedrock:m: 'evil.example.com/' is not a valid AWS region"
    )


def test_incomplete_key_pair_is_an_error(pair: pytest.MonkeyPatch):
    pair.delenv("AWS_SECRET_ACCESS_KEY")
    assert expect_error("bedrock:m").hint == "set the environment variable AWS_SECRET_ACCESS_KEY"


def test_session_token_is_added_to_the_key_pair(pair: pytest.MonkeyPatch):
    pair.setenv("AWS_REGION", "eu-central-1")
    assert list(credentials("bedrock:m").secrets) == [*PAIR]
    pair.setenv("AWS_SESSION_TOKEN", "passing")
    assert list(credentials("bedrock:m").secrets) == [*PAIR, "AWS_SESSION_TOKEN"]


def test_bearer_token_is_preferred_to_the_key_pair(pair: pytest.MonkeyPatch):
    pair.setenv("AWS_REGION", "eu-central-1")
    pair.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    assert list(credentials("bedrock:m").secrets) == ["AWS_BEARER_TOKEN_BEDROCK"]
