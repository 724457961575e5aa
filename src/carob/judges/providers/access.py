"""What opens the providers that have clients of their own: keys, addresses and regions, all of them
out of the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from carob.errors import UsageError
from carob.judges.providers.endpoint import checked_key, checked_url, on_loopback
from carob.judges.providers.keys import Keys
from carob.schema import JudgeChoice

_AWS_PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_AWS_SESSION = "AWS_SESSION_TOKEN"
_REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")
_REGION = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")


@dataclass(frozen=True, kw_only=True)
class Access:
    """One model of such a provider, and all that its client has to know."""

    provider: str
    name: str
    """As the user names the model."""
    model: str
    """As the provider does."""
    secrets: Mapping[str, str] = field(repr=False)
    """By the variables that they are from; a single one is a key."""
    address: str | None = None
    region: str = ""
    concurrency: int
    deadline: float

    @property
    def keys(self) -> Keys:
        return Keys(*self.secrets.values())

    @property
    def key(self) -> str:
        """What a refusal calls the key: never the key itself."""
        return f"the key in {next(iter(self.secrets))}"

    @property
    def loopback(self) -> bool:
        return self.address is not None and on_loopback(self.address)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """The variables of the environment that speak of a provider, the first of which counts."""

    keys: tuple[str, ...]
    addresses: tuple[str, ...]


PROVIDERS = {
    "anthropic": Provider(keys=("ANTHROPIC_API_KEY",), addresses=("ANTHROPIC_BASE_URL",)),
    "google": Provider(
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"), addresses=("GOOGLE_GEMINI_BASE_URL",)
    ),
    "bedrock": Provider(
        keys=("AWS_BEARER_TOKEN_BEDROCK",),
        addresses=("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "AWS_ENDPOINT_URL"),
    ),
}


def checked_access(choice: JudgeChoice, provider: str, model: str) -> Access:
    """The access that a choice means, or `UsageError`."""
    place = PROVIDERS[provider]
    secrets = _secrets(choice, place, aws=provider == "bedrock")
    return Access(
        provider=provider,
        name=choice.model,
        model=model,
        secrets=secrets,
        address=_address(choice, place),
        region=_region(choice.model) if provider == "bedrock" else "",
        concurrency=choice.concurrency,
        deadline=choice.deadline,
    )


def _secrets(choice: JudgeChoice, place: Provider, *, aws: bool) -> dict[str, str]:
    if choice.key_env is not None:
        return {choice.key_env: checked_key(choice.key_env, choice.model)}
    if choice.url is not None:
        raise UsageError(
            "the usual key is not sent to an address that was given with `url`",
            where=choice.model,
            hint="name the variable of the key that belongs there with `key_env`",
        )
    for variable in place.keys:
        if os.environ.get(variable):
            return {variable: checked_key(variable, choice.model)}
    if aws:
        passing = [_AWS_SESSION] if os.environ.get(_AWS_SESSION) else []
        return {name: checked_key(name, choice.model) for name in (*_AWS_PAIR, *passing)}
    return {place.keys[0]: checked_key(place.keys[0], choice.model)}


def _address(choice: JudgeChoice, place: Provider) -> str | None:
    if choice.url is not None:
        return checked_url(choice.url, where="judge url")
    for variable in place.addresses:
        if given := os.environ.get(variable):
            return checked_url(given, where=variable)
    return None


def _region(model: str) -> str:
    found = next((os.environ[name] for name in _REGIONS if os.environ.get(name)), "")
    if not found:
        raise UsageError("the region is not known", where=model, hint=f"set {_REGIONS[0]}")
    if not _REGION.fullmatch(found):
        raise UsageError(f"{found!r} is not a region", where=model, hint="such as 'eu-central-1'")
    return found
