from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pytest

from carob.errors import UsageError, install_hint
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings

NAMES = "openai, azure, ollama, vllm, anthropic, google, bedrock, local"


def expect_error(model: str, **fields: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        open_model(JudgeSettings(model=model, **fields))
    return caught.value


def test_unknown_provider_suggests_the_closest_name():
    error = expect_error("antropic:claude")
    assert str(error) == f"unknown judge provider 'antropic'; expected one of: {NAMES}"
    assert error.hint == "did you mean 'anthropic'?"


def test_unknown_provider_suggests_the_openai_compatible_url():
    assert expect_error("zzz:m").hint == "use 'openai:NAME' with a `url` for any compatible API"


def test_suggestion_ignores_case():
    assert expect_error("OpenAI:gpt-5").hint == "did you mean 'openai'?"


@pytest.mark.parametrize("model", ["gpt-5-mini", ""])
def test_model_without_a_provider_is_refused(model: str):
    error = expect_error(model)
    assert str(error) == f"judge {model!r} has no provider"
    assert error.hint == "such as 'openai:gpt-5-mini'"


@pytest.mark.parametrize("model", ["ollama:", "ollama: "])
def test_provider_without_a_model_is_refused(model: str):
    error = expect_error(model)
    assert str(error) == f"judge {model!r} has no model"
    assert error.hint == "such as 'ollama:NAME'"


def test_concurrency_must_be_at_least_one():
    error = expect_error("ollama:m", concurrency=0)
    assert str(error) == "judge concurrency must be at least 1, got 0"


class Missing(MetaPathFinder):
    """An import hook that makes the import of a package fail."""

    def __init__(self, package: str, error: ImportError) -> None:
        self.package = package
        self.error = error

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.split(".")[0] == self.package:
            raise self.error
        return None


_RELOADED = ("aiohttp", "anthropic", "boto3", "google", "pydantic_ai", "xllamacpp")


@pytest.fixture(autouse=True)
def _modules() -> Iterator[None]:
    """Restores imported packages. A second copy of pydantic-ai would break later tests, because its
    exceptions are not those that the first copy raises."""
    before = {name: module for name, module in sys.modules.items() if _reloaded(name)}
    yield
    for name in [name for name in sys.modules if _reloaded(name)]:
        del sys.modules[name]
    sys.modules.update(before)


def _reloaded(name: str) -> bool:
    return name.split(".")[0] in _RELOADED


def hide(monkeypatch: pytest.MonkeyPatch, package: str, error: ImportError) -> None:
    """Make the import of a package fail. pydantic-ai remembers its own imports, so it is imported
    again."""
    for name in [*sys.modules]:
        if name.split(".")[0] in (package, "pydantic_ai"):
            del sys.modules[name]
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
def test_missing_package_hints_at_the_extra(
    model: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
):
    hide(monkeypatch, package, ModuleNotFoundError(f"No module named {package!r}", name=package))
    error = expect_error(model)
    assert str(error) == "a package required by this judge is not installed"
    assert error.hint == install_hint(extra)


def test_broken_package_is_not_reported_as_missing(monkeypatch: pytest.MonkeyPatch):
    hide(monkeypatch, "xllamacpp", ImportError("libgomp.so.1: cannot open shared object file"))
    assert str(expect_error("local:smollm2")) == (
        "a package required by this judge cannot be imported: "
        "libgomp.so.1: cannot open shared object file"
    )
