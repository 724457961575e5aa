"""What a run is to do, from a config and from flags. Flags win."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from carob.api.judging import build_metric
from carob.api.runs import DEFAULT_METRICS
from carob.config import Config, MetricChoice, find_config, load_config
from carob.errors import InputError, UsageError
from carob.schema import Json, JudgeSettings


def settings(
    config: Path | None = None,
    *,
    metrics: Iterable[str] = (),
    thresholds: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    golden: Path | None = None,
    profile: str | None = None,
    contracts: Path | None = None,
    judge: Mapping[str, str | float | None] | None = None,
) -> Config:
    """The config that is named, or the `carob.toml` that is here, under the flags."""
    path = config or find_config(Path.cwd())
    return under_flags(
        load_config(path) if path else Config(source="", dialect="carob"),
        metrics=metrics,
        thresholds=thresholds,
        params=params,
        golden=golden,
        profile=profile,
        contracts=contracts,
        judge=judge,
    )


def under_flags(
    found: Config,
    *,
    metrics: Iterable[str] = (),
    thresholds: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
    golden: Path | None = None,
    profile: str | None = None,
    contracts: Path | None = None,
    judge: Mapping[str, str | float | None] | None = None,
) -> Config:
    """The config with all that was asked for beside it."""
    for one in found.others:  # settings of a metric that does not exist are settings of nothing
        build_metric(_from(found, one))
    asked = [found.choice(name) for name in metrics] or found.metrics
    if not asked and (thresholds or params):
        asked = DEFAULT_METRICS
    chosen = {one.name: _from(found, one) for one in asked}
    for name, text in (thresholds or {}).items():
        chosen[name] = msgspec.structs.replace(_asked(chosen, name), threshold=_number(name, text))
    for key, text in (params or {}).items():
        name, _, field = key.rpartition(".")
        if not name:
            raise UsageError(f"found the parameter {key!r}, expected METRIC.NAME=VALUE")
        one = _asked(chosen, name)
        changed = one.params | {field: _value(text)}
        chosen[name] = msgspec.structs.replace(one, params=changed, source=None)
    if contracts:
        one = _asked(chosen, "contract")
        schemas: Json = _schemas(contracts)
        chosen["contract"] = msgspec.structs.replace(
            one, params=one.params | {"contracts": schemas}
        )
    return msgspec.structs.replace(
        found,
        metrics=tuple(chosen.values()),
        judge=_judge(found.judge, judge or {}),
        golden=str(golden) if golden else found.golden,
        profile=profile or found.profile,
    )


def _from(found: Config, one: MetricChoice) -> MetricChoice:
    written = one in (*found.metrics, *found.others)
    return msgspec.structs.replace(one, source=found.source) if written else one


def _judge(
    found: JudgeSettings | None, flags: Mapping[str, str | float | None]
) -> JudgeSettings | None:
    """A model that a flag names is asked for every metric, whatever files say."""
    given = {name: value for name, value in flags.items() if value is not None}
    if not given:
        return found
    always = "model" in given
    return msgspec.structs.replace(found or JudgeSettings(), **given, always=always)


def _asked(chosen: Mapping[str, MetricChoice], name: str) -> MetricChoice:
    if name in chosen:
        return chosen[name]
    hint = f"the metrics of this run are {', '.join(chosen)}" if chosen else "choose it with -m"
    raise UsageError(f"metric {name!r} is not part of this run", hint=hint)


def _number(name: str, text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise UsageError(f"threshold of {name!r}: found {text!r}, expected a number")
    return found


def _value(text: str) -> Json:
    """A parameter as JSON; what is no JSON is a text."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _schemas(folder: Path) -> dict[str, Json]:
    """The JSON Schemas in a folder, by the names of their files."""
    try:
        files = sorted(folder.glob("*.json"))
        found = {file.stem: msgspec.json.decode(file.read_bytes()) for file in files}
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"no JSON Schemas: {error}", where=str(folder)) from error
    if not found:
        hint = "name each schema CONTRACT.json"
        raise InputError("no JSON Schemas in this folder", where=str(folder), hint=hint)
    return found
