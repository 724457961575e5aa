"""The settings of a run: a config with the flags of the caller on top."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from pathlib import Path

import msgspec

from carob.api.load import keep_mapping
from carob.api.metrics import build_metric
from carob.api.trust import trust_check
from carob.config import Config, MetricChoice, find_config, load_config
from carob.errors import InputError, UsageError
from carob.evaluators.references import parse_evaluator
from carob.schema import Json, JudgeSettings

NO_CONFIG = Config(source="", dialect="carob")
"""The settings of a caller who passes everything as arguments."""
JudgeFlags = Mapping[str, str | float | None]


def settings(
    config: Path | Config | None = None,
    *,
    metrics: Iterable[str | MetricChoice] = (),
    thresholds: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    golden: Path | None = None,
    profile: str | None = None,
    contracts: Path | None = None,
    judge: str | JudgeSettings | JudgeFlags | None = None,
    trust_config: bool = False,
    allow_code: bool = False,
) -> Config:
    """Return the config with the flags applied. Without a config, the `carob.toml` of the working
    directory is used if there is one. Its sensitive settings take effect if the user has trusted
    them, or with `trust_config`. With `allow_code`, a metric may be the name of a code file.

    If neither names metrics, there are none yet, and thresholds and parameters are not applied:
    see `add_default_metrics`.
    """
    found = config if isinstance(config, Config) else load_trusted(config, trust_all=trust_config)
    for choice in found.unrequested:  # a misspelt metric in the config is an error even if unused
        if choice.evaluator is None:  # code is loaded only if it is used
            build_metric(_with_source(found, choice))
    choices = _select_metrics(found, metrics, allow_code=allow_code)
    if choices:
        _apply_flags(choices, thresholds or {}, params or {}, contracts)
    return msgspec.structs.replace(
        found,
        metrics=tuple(choices),
        judge=_judge_settings(found, judge),
        golden=str(golden) if golden else found.golden,
        profile=profile or found.profile,
    )


def as_texts(values: Mapping[str, Json] | Mapping[str, float] | None) -> dict[str, str]:
    """Return thresholds or parameters as the command line has them."""
    return {name: msgspec.json.encode(value).decode() for name, value in (values or {}).items()}


def load_trusted(path: Path | None, *, trust_all: bool = False) -> Config:
    """Load a config, by default the `carob.toml` of the working directory, with those of its
    sensitive settings that the user has trusted."""
    path = path or find_config(Path.cwd())
    if path is None:
        return NO_CONFIG
    config = load_config(path, trust=trust_check(trust_all=trust_all))
    keep_mapping(path, config)
    return config


def _select_metrics(
    config: Config, metrics: Iterable[str | MetricChoice], *, allow_code: bool
) -> list[MetricChoice]:
    """Return the requested metrics, or else those of the config. A name counts once; metrics that
    come with parameters of their own may share a name."""
    selected: list[MetricChoice] = []
    for metric in metrics:
        if isinstance(metric, MetricChoice):
            selected.append(metric)
        elif all(choice.name != metric for choice in selected):
            choice = config.choice(metric)
            if allow_code and choice.evaluator is None:
                choice = msgspec.structs.replace(choice, evaluator=parse_evaluator(metric))
            selected.append(_with_source(config, choice))
    by_name = {choice.name: _with_source(config, choice) for choice in config.metrics}
    return selected or [*by_name.values()]


def _apply_flags(
    choices: list[MetricChoice],
    thresholds: Mapping[str, str],
    params: Mapping[str, str],
    contracts: Path | None,
) -> None:
    for name, text in thresholds.items():
        _update(choices, name, threshold=_parse_threshold(name, text))
    for key, text in params.items():
        name, _, field = key.rpartition(".")
        if not name:
            raise UsageError(f"invalid parameter {key!r}; expected METRIC.NAME=VALUE")
        params_before = _require_metric(choices, name).params
        _update(choices, name, params=params_before | {field: _parse_value(text)}, source=None)
    if contracts:
        params_before = _require_metric(choices, "contract").params
        _update(choices, "contract", params=params_before | {"contracts": _schemas(contracts)})


def _with_source(config: Config, choice: MetricChoice) -> MetricChoice:
    """Note where a metric was configured, for error messages."""
    if choice not in (*config.metrics, *config.unrequested):
        return choice
    evaluator = choice.evaluator
    if evaluator and config.withheld:
        evaluator = msgspec.structs.replace(evaluator, withheld=config.withheld)
    return msgspec.structs.replace(choice, source=config.source, evaluator=evaluator)


def _require_metric(choices: Iterable[MetricChoice], name: str) -> MetricChoice:
    by_name = {choice.name: choice for choice in choices}
    if name in by_name:
        return by_name[name]
    hint = f"the metrics of this run are {', '.join(by_name)}" if by_name else "select it with -m"
    raise UsageError(f"metric {name!r} is not part of this run", hint=hint)


def _update(choices: list[MetricChoice], name: str, **changes: object) -> None:
    updated = msgspec.structs.replace(_require_metric(choices, name), **changes)
    choices[:] = [updated if choice.name == name else choice for choice in choices]


def _judge_settings(
    config: Config, judge: str | JudgeSettings | JudgeFlags | None
) -> JudgeSettings | None:
    """Apply the caller's judge. A model that the caller names overrides those of all metrics, and
    an address or a key that the caller names needs no trust."""
    if isinstance(judge, JudgeSettings):
        return judge
    flags = {"model": judge} if isinstance(judge, str) else judge or {}
    changes = {name: value for name, value in flags.items() if value is not None}
    configured = _note_withheld(config, {f"judge.{name}" for name in changes})
    if not changes:
        return configured
    always = "model" in changes
    return msgspec.structs.replace(configured or JudgeSettings(), **changes, always=always)


def _note_withheld(config: Config, overridden: Set[str]) -> JudgeSettings | None:
    """Return the judge of the config, which cannot be asked if some of its settings are withheld.
    All withheld settings are named: they are trusted together."""
    names = {
        "judge.model" if setting.name == "judge" else setting.name
        for setting in config.withheld
        if setting.name.partition(".")[0] == "judge"
    }
    if config.judge is None or names <= overridden:
        return config.judge
    return msgspec.structs.replace(config.judge, withheld=config.withheld, source=config.source)


def _parse_threshold(name: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"invalid threshold for {name!r}: found {text!r}, expected a number")
    return number


def _parse_value(text: str) -> Json:
    """Parse a parameter as JSON. Text that is not JSON is a string."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _schemas(folder: Path) -> dict[str, Json]:
    """Read the JSON Schemas of a folder, by file name without extension."""
    try:
        files = sorted(folder.glob("*.json"))
        schemas = {file.stem: msgspec.json.decode(file.read_bytes()) for file in files}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read JSON Schemas: {error}", where=str(folder)) from error
    if not schemas:
        hint = "name each schema CONTRACT.json"
        raise InputError("no JSON Schemas in this folder", where=str(folder), hint=hint)
    return schemas
