"""Where an OpenAI-compatible model answers, and what opens it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote, urlsplit

from carob.errors import UsageError
from carob.judges.providers.keys import Keys
from carob.schema import JudgeChoice


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """One address that takes chat completions."""

    name: str
    """As the user names the model."""
    model: str
    """As the endpoint does."""
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    keys: Keys = field(default_factory=Keys)
    key: str = "a request without a key"
    """What a refusal calls the key: never the key itself."""

    @property
    def loopback(self) -> bool:
        return on_loopback(self.url)


@dataclass(frozen=True, kw_only=True)
class Place:
    """What the environment says of a provider."""

    key: str
    """The variable of the usual key."""
    keyless: bool = False
    address: str
    """The variable of the address."""
    usual: str | None = None
    """The address if nothing is said."""
    own: bool = True
    """Is the usual key one for a place of the user's own? If not, it is not sent elsewhere."""


PLACES = {
    "openai": Place(
        key="OPENAI_API_KEY",
        address="OPENAI_BASE_URL",
        usual="https://api.openai.com/v1",
        own=False,
    ),
    "azure": Place(key="AZURE_OPENAI_API_KEY", address="AZURE_OPENAI_ENDPOINT"),
    "ollama": Place(
        key="OLLAMA_API_KEY",
        keyless=True,
        address="OLLAMA_BASE_URL",
        usual="http://localhost:11434/v1",
    ),
    "vllm": Place(
        key="VLLM_API_KEY",
        keyless=True,
        address="VLLM_BASE_URL",
        usual="http://localhost:8000/v1",
    ),
}


def find_endpoint(choice: JudgeChoice, provider: str, model: str) -> Endpoint:
    """The endpoint that a choice means. A key goes over plain HTTP to another machine only where
    the user gave such an address; no address of ours is one."""
    place = PLACES[provider]
    base = _base(choice, place)
    variable, key = _key(choice, place)
    azure = provider == "azure"
    header = "api-key" if azure else "Authorization"
    return Endpoint(
        name=choice.model,
        model=model,
        url=_deployment(base, model) if azure else f"{base}/chat/completions",
        headers={header: key if azure else f"Bearer {key}"} if key else {},
        keys=Keys(key),
        key=f"the key in {variable}" if key else "a request without a key",
    )


def checked_url(url: str, *, where: str) -> str:
    """The address without a slash at its end, or `UsageError`."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.username is not None or parts.password is not None or "?" in url or "#" in url:
        raise UsageError(
            "an address with a user, a query or a fragment",
            where=where,
            hint="keys come from the environment: name the variable with `key_env`",
        )
    if parts.scheme not in ("http", "https") or not host or any(sign <= " " for sign in url):
        hint = "such as 'https://models.example.com/v1'"
        raise UsageError(f"{url!r} is not an address of http or https", where=where, hint=hint)
    return url.rstrip("/")


def _base(choice: JudgeChoice, place: Place) -> str:
    if choice.url is not None:
        return checked_url(choice.url, where="judge url")
    if given := os.environ.get(place.address):
        return checked_url(given, where=place.address)
    if place.usual is None:
        hint = f"set {place.address}, or give the judge a `url`"
        raise UsageError("it is not known where the model answers", where=choice.model, hint=hint)
    return place.usual


def _key(choice: JudgeChoice, place: Place) -> tuple[str, str | None]:
    """The variable and the key in it. With an address of the user's, a key is only as needed as he
    says it is, and that of another company stays at home."""
    if choice.key_env is not None:
        return choice.key_env, checked_key(choice.key_env, choice.model)
    if choice.url is not None and not place.own:
        return place.key, None
    if place.keyless and not os.environ.get(place.key):
        return place.key, None
    return place.key, checked_key(place.key, choice.model)


def checked_key(variable: str, model: str) -> str:
    """The key in a variable of the environment, or `UsageError`."""
    key = os.environ.get(variable, "").strip()
    if not key:
        raise UsageError("there is no key", where=model, hint=f"set {variable} in the environment")
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"{variable} has characters that no key has",
            where=model,
            hint="was something else pasted, or a line too many?",
        )
    return key


def _deployment(base: str, model: str) -> str:
    if base.endswith("/openai/v1"):
        return f"{base}/chat/completions"
    version = os.environ.get("OPENAI_API_VERSION")
    if not version:
        hint = "set OPENAI_API_VERSION, or give the address that ends in '/openai/v1'"
        raise UsageError("the version of the API is not known", where=f"azure:{model}", hint=hint)
    path = f"openai/deployments/{quote(model, safe='')}/chat/completions"
    return f"{base.removesuffix('/openai')}/{path}?api-version={quote(version, safe='')}"


def on_loopback(url: str) -> bool:
    """Does it stay on this machine? Then no proxy has to do with it."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
