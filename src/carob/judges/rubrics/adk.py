"""Judge settings in the form of ADK and agentevals."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from carob.judges.rubrics.judge import RubricJudge, Samples
from carob.schema import Json
from carob.schema.base import prepare_type

_PROVIDERS = {"gemini": "google"}
_FAMILIES = {"gemini": "google", "claude": "anthropic", "gpt-": "openai"}


class JudgeModelOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `judge_model_options` of an ADK criterion."""

    judge_model: str | None = None
    num_samples: Samples | None = None
    parallelism_limit: int | None = None
    """Accepted and ignored: the concurrency is a setting of the judge client."""
    judge_model_config: Any = None


@dataclass(frozen=True, kw_only=True)
class AdkSettings(RubricJudge):
    """A judge that also accepts the settings of an ADK criterion."""

    judge_model_options: dict[str, Json] = field(default_factory=dict[str, Json])
    judge_model: str | None = None  # pyright: ignore[reportIncompatibleVariableOverride, reportIncompatibleMethodOverride] - a setting of agentevals

    def __post_init__(self) -> None:
        parent = getattr(super(), "__post_init__", None)
        if parent:
            parent()
        name = self.judge_model or self._options.judge_model
        model = qualify_model(name) if name else self.model or self.source.model
        object.__setattr__(self, "judge_model", model)

    @property
    def sample_count(self) -> int:
        return self._options.num_samples or self.samples

    @property
    def _options(self) -> JudgeModelOptions:
        written = {_snake(key): value for key, value in self.judge_model_options.items()}
        try:
            options = msgspec.convert(written, prepare_type(JudgeModelOptions))
        except msgspec.ValidationError as error:
            message, _, path = str(error).partition(" - at `$")
            raise ValueError(f"judge_model_options{path.strip('`')}: {message}") from error
        if options.judge_model_config:
            hint = "set the temperature and other settings of the judge in carob.toml"
            raise ValueError(f"judge_model_options.judge_model_config is not supported: {hint}")
        return options


def qualify_model(name: str) -> str:
    """Add the provider to a model name: `gemini-2.5-flash` becomes `google:gemini-2.5-flash`."""
    if ":" in name:
        return name
    provider, slash, model = name.partition("/")
    if slash:
        return f"{_PROVIDERS.get(provider, provider)}:{model}"
    providers = (
        provider_name for start, provider_name in _FAMILIES.items() if name.startswith(start)
    )
    family = next(providers, None)
    if family is None:
        raise ValueError(f"judge_model: {name!r} has no provider, such as 'google:{name}'")
    return f"{family}:{name}"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()
