"""Open a judge model by name. Configuration errors are raised here, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from carob.errors import UsageError
from carob.judges.model import JudgeModel
from carob.lazy import load_object
from carob.schema import JudgeSettings
from carob.text.spelling import did_you_mean

_CHAT = "carob.judges.providers.chat:open_chat"
_PYDANTIC_AI = "carob.judges.providers.pydantic_ai:open_pydantic_ai"
PROVIDERS: Mapping[str, str] = {
    "openai": _CHAT,
    "azure": _CHAT,
    "ollama": _CHAT,
    "vllm": _CHAT,
    "anthropic": _PYDANTIC_AI,
    "google": _PYDANTIC_AI,
    "bedrock": _PYDANTIC_AI,
    "local": "carob.judges.providers.local:open_local",
}
"""The built-in judge providers, each with a reference to its factory."""


class ProviderFactory(Protocol):
    """Opens a model of one provider. This is what the entry points of `carob.judge_providers`
    refer to."""

    def __call__(self, settings: JudgeSettings, /) -> JudgeModel:
        """Return the model that `settings.model` names as `PROVIDER:MODEL`. Raises `UsageError`
        for invalid settings. Must not send anything yet."""
        ...


class BuiltinProviders(Mapping[str, ProviderFactory]):
    """The built-in providers by name; each is imported when it is looked up."""

    def __getitem__(self, name: str) -> ProviderFactory:
        return load_object(PROVIDERS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(PROVIDERS)

    def __len__(self) -> int:
        return len(PROVIDERS)


def open_model(
    settings: JudgeSettings, providers: Mapping[str, ProviderFactory] | None = None
) -> JudgeModel:
    """Open the model that the settings name as `PROVIDER:MODEL`. Nothing is sent yet.

    `providers` are all installed providers by name, the built-in ones by default. Raises
    `UsageError` for unknown providers, missing keys and missing packages.
    """
    factories = BuiltinProviders() if providers is None else providers
    provider, colon, name = settings.model.partition(":")
    if not colon:
        message, hint = f"judge {settings.model!r} has no provider", "such as 'openai:gpt-5-mini'"
        raise UsageError(message, hint=hint)
    factory = factories.get(provider)
    if factory is None:
        message = f"unknown judge provider {provider!r}; expected one of: {', '.join(factories)}"
        hint = (
            did_you_mean(provider, factories)
            or "use 'openai:NAME' with a `url` for any compatible API"
        )
        raise UsageError(message, hint=hint)
    if not name.strip():
        message, hint = f"judge {settings.model!r} has no model", f"such as '{provider}:NAME'"
        raise UsageError(message, hint=hint)
    if settings.concurrency < 1:
        raise UsageError(f"judge concurrency must be at least 1, got {settings.concurrency}")
    return factory(settings)
