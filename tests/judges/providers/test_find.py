from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from carob.errors import UsageError
from carob.judges.providers import open_model
from carob.schema import JudgeChoice

NAMES = "openai, azure, ollama, vllm, anthropic, google, bedrock, local"


def refused(model: str, **fields: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        open_model(JudgeChoice(model=model, **fields))
    return caught.value


def test_an_unknown_provider_comes_with_the_nearest_known_one():
    error = refused("antropic:claude")
    assert str(error) == f"judge provider 'antropic' is not known: {NAMES} are"
    assert error.hint == "did you mean 'anthropic'?"


def test_a_provider_unlike_any_other_may_be_reached_by_its_address():
    assert refused("zzz:m").hint == "any other: 'openai:NAME' with its `url`"


def test_case_does_not_hide_the_provider_that_is_meant():
    assert refused("OpenAI:gpt-5").hint == "did you mean 'openai'?"


@pytest.mark.parametrize("model", ["gpt-5-mini", ""])
def test_a_model_without_a_provider_is_refused(model: str):
    error = refused(model)
    assert str(error) == f"judge {model!r} has no provider"
    assert error.hint == "such as 'openai:gpt-5-mini'"


@pytest.mark.parametrize("model", ["ollama:", "ollama: "])
def test_a_provider_without_a_model_is_refused(model: str):
    error = refused(model)
    assert str(error) == f"judge {model!r} has no model"
    assert error.hint == "such as 'ollama:NAME'"


def test_nobody_can_be_asked_zero_things_at_a_time():
    error = refused("ollama:m", concurrency=0)
    assert str(error) == "judge concurrency is 0, and must be at least 1"


class Missing(MetaPathFinder):
    """Finds before anybody else that a package is not there, or does not load."""

    def __init__(self, package: str, error: ImportError) -> None:
        self.package = package
        self.error = error

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] == self.package:
            raise self.error
        return None


def hide(monkeypatch: pytest.MonkeyPatch, package: str, error: ImportError) -> None:
    for name in [*sys.modules]:
        # pydantic-ai remembers what it has imported, so it is imported anew.
        if name.split(".")[0] in (package, "pydantic_ai"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(package, error), *sys.meta_path])


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.setenv(name, "a-key-of-no-worth")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")


@pytest.mark.parametrize(
    ("model", "package", "extra"),
    [
        ("ollama:m", "aiohttp", "judge"),
        ("anthropic:m", "pydantic_ai", "anthropic"),
        ("anthropic:m", "anthropic", "anthropic"),
        ("google:m", "google", "google"),
        ("bedrock:m", "boto3", "bedrock"),
        ("local:smollm2", "xllamacpp", "local"),
        ("local:smollm2", "aiohttp", "local"),
    ],
)
def test_a_missing_package_comes_with_the_extra_that_has_it(
    model: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    hide(monkeypatch, package, ModuleNotFoundError(f"No module named {package!r}", name=package))
    error = refused(model)
    assert str(error) == "a package that this judge needs is not installed"
    assert error.hint == f"pip install 'carob[{extra}]'"


def test_a_package_that_does_not_load_is_not_called_missing(monkeypatch: pytest.MonkeyPatch):
    hide(monkeypatch, "xllamacpp", ImportError("libgomp.so.1: cannot open shared object file"))
    assert str(refused("local:smollm2")) == (
        "a package that this judge needs does not load: "
        "libgomp.so.1: cannot open shared object file"
    )
