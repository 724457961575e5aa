"""Credentials of the providers that have their own client libraries: keys, URLs and regions, all
read from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from carob.errors import UsageError
from carob.judges.providers.endpoint import check_url, on_loopback, read_key
from carob.judges.providers.redaction import Redactor
from carob.schema import JudgeSettings

_AWS_KEY_PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_AWS_SESSION = "AWS_SESSION_TOKEN"
_AWS_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_REGION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """Everything that the client of one model needs."""

    provider: str
    name: str
    """The model as the user names it."""
    model: str
    """The model as the provider names it."""
    secrets: Mapping[str, str] = field(repr=False)
    """Secrets by environment variable. A single one is an API key."""
    url: str | None = None
    region: str = ""
    concurrency: int
    deadline: float

    @property
    def redactor(self) -> Redactor:
        return Redactor(*self.secrets.values())

    @property
    def key(self) -> str:
        """How an error refers to the key, without showing it."""
        return f"the key in {next(iter(self.secrets))}"

    @property
    def loopback(self) -> bool:
        return self.url is not None and on_loopback(self.url)


@dataclass(frozen=True, kw_only=True)
class EnvironmentVariables:
    """The environment variables of a provider. The first one that is set counts."""

    keys: tuple[str, ...]
    urls: tuple[str, ...]


VARIABLES = {
    "anthropic": EnvironmentVariables(keys=("ANTHROPIC_API_KEY",), urls=("ANTHROPIC_BASE_URL",)),
    "google": EnvironmentVariables(
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"), urls=("GOOGLE_GEMINI_BASE_URL",)
    ),
    "bedrock": EnvironmentVariables(
        keys=("AWS_BEARER_TOKEN_BEDROCK",),
        urls=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
    ),
}


def find_credentials(settings: JudgeSettings) -> Credentials:
    """Return the credentials for a model. Raises `UsageError` if something is missing."""
    provider, _, model = settings.model.partition(":")
    variables = VARIABLES[provider]
    aws = provider == "bedrock"
    return Credentials(
        provider=provider,
        name=settings.model,
        model=model,
        secrets=_find_secrets(settings, variables, aws=aws),
        url=_find_url(settings, variables),
        region=_find_region(settings.model) if aws else "",
        concurrency=settings.concurrency,
        deadline=settings.deadline,
    )


def _find_secrets(
    settings: JudgeSettings, variables: EnvironmentVariables, *, aws: bool
) -> dict[str, str]:
    if settings.key_env is not None:
        return {settings.key_env: read_key(settings.key_env, settings.model)}
    if settings.url is not None:
        raise UsageError(
            "the default key is not sent to a custom `url`",
            where=settings.model,
            hint="name the environment variable of the key for that URL with `key_env`",
        )
    for variable in variables.keys:
        if os.environ.get(variable):
            return {variable: read_key(variable, settings.model)}
    if aws:
        session = [_AWS_SESSION] if os.environ.get(_AWS_SESSION) else []
        return {name: read_key(name, settings.model) for name in (*_AWS_KEY_PAIR, *session)}
    return {variables.keys[0]: read_key(variables.keys[0], settings.model)}


def _find_url(settings: JudgeSettings, variables: EnvironmentVariables) -> str | None:
    if settings.url is not None:
        return check_url(settings.url, where="judge url")
    for variable in variables.urls:
        if url := os.environ.get(variable):
            return check_url(url, where=variable)
    return None


def _find_region(model: str) -> str:
    region = next((os.environ[name] for name in _AWS_REGIONS if os.environ.get(name)), "")
    if not region:
        raise UsageError("missing AWS region", where=model, hint=f"set {_AWS_REGIONS[0]}")
    if not _REGION.fullmatch(region):
        hint = "such as 'eu-central-1'"
        raise UsageError(f"{region!r} is not a valid AWS region", where=model, hint=hint)
    return region
