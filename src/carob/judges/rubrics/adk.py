"""Settings of judges as ADK and agentevals write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from carob.judges.rubrics.judge import RubricJudge, Samples
from carob.schema import Json

_PROVIDERS = {"gemini": "google"}
_FAMILIES = {"gemini": "google", "claude": "anthropic", "gpt-": "openai"}


class Options(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`judge_model_options` of a criterion."""

    judge_model: str | None = None
    num_samples: Samples | None = None
    parallelism_limit: int | None = None
    """Has no say in what comes out: who answers knows how many calls it bears."""
    judge_model_config: Any = None


@dataclass(frozen=True, kw_only=True)
class AdkSettings(RubricJudge):
    """A judge that takes the settings of an ADK criterion, too."""

    judge_model_options: dict[str, Json] = field(default_factory=dict[str, Json])
    judge_model: str | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride] - a setting of agentevals

    def __post_init__(self) -> None:
        after = getattr(super(), "__post_init__", None)
        if after:
            after()
        named = self.judge_model or self._options.judge_model
        model = qualified(named) if named else self.model or self.asks.model
        object.__setattr__(self, "judge_model", model)

    @property
    def count(self) -> int:
        return self._options.num_samples or self.samples

    @property
    def _options(self) -> Options:
        written = {_snake(key): value for key, value in self.judge_model_options.items()}
        try:
            made = msgspec.convert(written, Options)
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            raise ValueError(f"judge_model_options{path.strip('`')}: {message}") from error
        if made.judge_model_config:
            hint = "the temperature and the like are settings of the judge in carob.toml"
            raise ValueError(f"judge_model_options.judge_model_config is not followed: {hint}")
        return made


def qualified(name: str) -> str:
    """The name of a model with its provider: `gemini-2.5-flash` is `google:gemini-2.5-flash`."""
    if ":" in name:
        return name
    provider, slash, model = name.partition("/")
    if slash:
        return f"{_PROVIDERS.get(provider, provider)}:{model}"
    family = next((one for start, one in _FAMILIES.items() if name.startswith(start)), None)
    if family is None:
        raise ValueError(f"judge_model: {name!r} names no provider, such as in 'google:{name}'")
    return f"{family}:{name}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
