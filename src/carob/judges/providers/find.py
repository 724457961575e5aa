"""From the name of a model to the model. Whatever can be wrong is found here, before anything
runs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from carob.errors import UsageError
from carob.judges.model import Model
from carob.judges.providers.access import PROVIDERS, checked_access
from carob.judges.providers.chat import Chat
from carob.judges.providers.endpoint import PLACES, find_endpoint
from carob.judges.providers.established import Established
from carob.judges.providers.local import Local
from carob.judges.providers.weights import find_weights
from carob.schema import JudgeChoice
from carob.text.spelling import meant

_KNOWN = (*PLACES, *PROVIDERS, "local")


def open_model(choice: JudgeChoice) -> Model:
    """The model that a choice names, as `PROVIDER:MODEL`, or `UsageError`. Nothing is sent yet.

    A key goes over plain HTTP to another machine only where the user gave such an address, by
    `url` or by the environment. The usual key of OpenAI is not sent to an address given by `url`:
    name the key that belongs there with `key_env`."""
    provider, _, name = choice.model.partition(":")
    if provider not in _KNOWN or not name.strip():
        raise _unknown(choice.model, provider)
    if choice.concurrency < 1:
        raise UsageError(f"judge concurrency is {choice.concurrency}, and must be at least 1")
    return _OPENERS[provider](choice, provider, name)


def _chat(choice: JudgeChoice, provider: str, name: str) -> Model:
    endpoint = find_endpoint(choice, provider, name)
    _need("aiohttp", extra="judge")
    return Chat(endpoint, concurrency=choice.concurrency)


def _established(choice: JudgeChoice, provider: str, name: str) -> Model:
    access = checked_access(choice, provider, name)
    _need(f"pydantic_ai.models.{provider}", extra=provider)
    return Established(access)


def _local(choice: JudgeChoice, _: str, name: str) -> Model:
    weights = find_weights(choice, name)
    _need("aiohttp", extra="local")
    _need("xllamacpp", extra="local")
    return Local(weights, name=choice.model)


_OPENERS: dict[str, Callable[[JudgeChoice, str, str], Model]] = {
    **dict.fromkeys(PLACES, _chat),
    **dict.fromkeys(PROVIDERS, _established),
    "local": _local,
}


def _unknown(model: str, provider: str) -> UsageError:
    if ":" not in model:
        message, hint = f"judge {model!r} has no provider", "such as 'openai:gpt-5-mini'"
    elif provider in _KNOWN:
        message, hint = f"judge {model!r} has no model", f"such as '{provider}:NAME'"
    else:
        message = f"judge provider {provider!r} is not known: {', '.join(_KNOWN)} are"
        hint = meant(provider, _KNOWN) or "any other: 'openai:NAME' with its `url`"
    return UsageError(message, hint=hint)


def _need(module: str, *, extra: str) -> None:
    try:
        import_module(module)
    except ImportError as error:
        missing = isinstance(error.__cause__ or error, ModuleNotFoundError)
        why = "is not installed" if missing else f"does not load: {error}"
        raise UsageError(
            f"a package that this judge needs {why}", hint=f"pip install 'carob[{extra}]'"
        ) from error
