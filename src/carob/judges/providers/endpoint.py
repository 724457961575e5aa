"""Endpoints of OpenAI-compatible APIs: URL, key and proxy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import quote, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from carob.errors import UsageError
from carob.judges.providers.redaction import Redactor
from carob.schema import JudgeSettings


@dataclass(frozen=True, kw_only=True)
class ModelEndpoint:
    """A URL that accepts chat completions, with its credentials."""

    name: str
    """The model as the user names it."""
    model: str
    """The model as the endpoint names it."""
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    redactor: Redactor = field(default_factory=Redactor)
    key: str = "a request without a key"
    """How an error refers to the key, without showing it."""

    @property
    def loopback(self) -> bool:
        return on_loopback(self.url)


@dataclass(frozen=True, kw_only=True)
class _ChatProvider:
    """Where to find the URL and the key of a provider."""

    key_variable: str
    url_variable: str
    default_url: str | None = None
    key_optional: bool = False
    self_hosted: bool = True
    """Whether the default key belongs to the user's own server. If not, it is not sent to a `url`
    from the settings."""


_PROVIDERS = {
    "openai": _ChatProvider(
        key_variable="OPENAI_API_KEY",
        url_variable="OPENAI_BASE_URL",
        default_url="https://api.openai.com/v1",
        self_hosted=False,
    ),
    "azure": _ChatProvider(
        key_variable="AZURE_OPENAI_API_KEY", url_variable="AZURE_OPENAI_ENDPOINT"
    ),
    "ollama": _ChatProvider(
        key_variable="OLLAMA_API_KEY",
        url_variable="OLLAMA_BASE_URL",
        default_url="http://localhost:11434/v1",
        key_optional=True,
    ),
    "vllm": _ChatProvider(
        key_variable="VLLM_API_KEY",
        url_variable="VLLM_BASE_URL",
        default_url="http://localhost:8000/v1",
        key_optional=True,
    ),
}


def find_endpoint(settings: JudgeSettings) -> ModelEndpoint:
    """Return the endpoint of a model. Raises `UsageError` if the URL or the key is missing.

    A key is sent over plain HTTP to another machine only if the user configured such a URL. The
    default key of OpenAI is never sent to a `url` from the settings: `key_env` names the key for
    that URL.
    """
    name, _, model = settings.model.partition(":")
    provider = _PROVIDERS[name]
    base = _base_url(settings, provider)
    variable, key = _find_key(settings, provider)
    azure = name == "azure"
    header = "api-key" if azure else "Authorization"
    return ModelEndpoint(
        name=settings.model,
        model=model,
        url=_deployment_url(base, model) if azure else f"{base}/chat/completions",
        headers={header: key if azure else f"Bearer {key}"} if key else {},
        redactor=Redactor(key),
        key=f"the key in {variable}" if key else "a request without a key",
    )


def check_url(url: str, *, where: str) -> str:
    """Return the URL without a trailing slash. Raises `UsageError` if it is not a plain HTTP URL;
    the message does not show a URL that may contain credentials."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.username is not None or parts.password is not None or "?" in url or "#" in url:
        raise UsageError(
            "the URL must not contain credentials, a query or a fragment",
            where=where,
            hint="pass the key in an environment variable and name it with `key_env`",
        )
    if parts.scheme not in ("http", "https") or not host or any(sign <= " " for sign in url):
        hint = "such as 'https://models.example.com/v1'"
        raise UsageError(f"expected an http or https URL, got {url!r}", where=where, hint=hint)
    return url.rstrip("/")


def read_key(variable: str, model: str) -> str:
    """Return the key in an environment variable. Raises `UsageError` if it is missing or cannot be
    a key; the message does not show its value."""
    key = os.environ.get(variable, "").strip()
    if not key:
        hint = f"set the environment variable {variable}"
        raise UsageError("missing API key", where=model, hint=hint)
    if not key.isascii() or not key.isprintable():
        raise UsageError(
            f"{variable} contains characters that are not allowed in a key",
            where=model,
            hint="check it for line breaks and other pasted text",
        )
    return key


def on_loopback(url: str) -> bool:
    """Whether requests to a URL stay on this machine, and so bypass proxies."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


@dataclass(frozen=True, kw_only=True)
class Proxy:
    url: str = field(repr=False)
    redactor: Redactor


def find_proxy(url: str) -> Proxy | None:
    """Return the proxy that the environment configures for a URL. Raises `UsageError` for proxies
    that are not supported.

    aiohttp's `trust_env` would do this in a thread for each call, and also read passwords from
    `~/.netrc`.
    """
    parts = urlsplit(url)
    proxy_url = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
    if not proxy_url:
        return None
    proxy = urlsplit(proxy_url)
    if proxy.scheme not in ("http", "https") or not proxy.hostname:
        raise UsageError(
            f"the proxy for {parts.scheme} is not an http or https URL",
            hint=f"change the environment variable, or add {parts.hostname} to NO_PROXY",
        )
    password = unquote(proxy.password) if proxy.password else None
    return Proxy(url=proxy_url, redactor=Redactor(password))


def _base_url(settings: JudgeSettings, provider: _ChatProvider) -> str:
    if settings.url is not None:
        return check_url(settings.url, where="judge url")
    if url := os.environ.get(provider.url_variable):
        return check_url(url, where=provider.url_variable)
    if provider.default_url is None:
        hint = f"set {provider.url_variable}, or give the judge a `url`"
        raise UsageError("missing endpoint URL", where=settings.model, hint=hint)
    return provider.default_url


def _find_key(settings: JudgeSettings, provider: _ChatProvider) -> tuple[str, str | None]:
    """Return the environment variable and the key in it."""
    variable = provider.key_variable
    if settings.key_env is not None:
        return settings.key_env, read_key(settings.key_env, settings.model)
    if settings.url is not None and not provider.self_hosted:
        return variable, None
    if provider.key_optional and not os.environ.get(variable):
        return variable, None
    return variable, read_key(variable, settings.model)


def _deployment_url(base: str, model: str) -> str:
    if base.endswith("/openai/v1"):
        return f"{base}/chat/completions"
    version = os.environ.get("OPENAI_API_VERSION")
    if not version:
        hint = "set OPENAI_API_VERSION, or use a URL that ends in '/openai/v1'"
        raise UsageError("missing API version", where=f"azure:{model}", hint=hint)
    path = f"openai/deployments/{quote(model, safe='')}/chat/completions"
    return f"{base.removesuffix('/openai')}/{path}?api-version={quote(version, safe='')}"
