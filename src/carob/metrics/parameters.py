"""Build metrics from names and parameters, and report mistakes before a run starts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from carob.errors import UsageError, install_hint
from carob.metrics.metric import Metric
from carob.schema import Json
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean

_EXTRAS = {
    "detect_secrets": "safety",
    "genai_prices": "metrics",
    "glin_profanity": "safety",
    "jsonschema": "metrics",
    "model2vec": "semantic",
    "phonenumbers": "safety",
    "re2": "metrics",
    "stdnum": "safety",
}
"""The extra that installs each optional package."""

_MISSING_FIELD = re.compile(r"Object missing required field `(\w+)`")
_INVALID_CHOICE = re.compile(r"Invalid enum value (.*)", re.DOTALL)


def build(name: str, params: Mapping[str, Json], known: Mapping[str, type[Metric]]) -> Metric:
    """Build a metric. Parameters may be in snake_case or camelCase.

    Raises `UsageError` for an unknown name, a missing package or an invalid parameter.
    """
    kind = known.get(name)
    if kind is None:
        raise UsageError(f"unknown metric {name!r}", hint=_suggest_metric(name, known))
    check_packages([kind])
    fields = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    values: dict[str, Json] = {}
    for key, value in params.items():
        field = _to_snake_case(key)
        if field not in fields:
            raise UsageError(
                f"metric {name!r} has no parameter {key!r}", hint=_suggest(field, fields)
            )
        if field in values:
            raise UsageError(f"metric {name!r}: parameter {field!r} is given twice")
        values[field] = value
    try:
        return msgspec.convert(values, prepare_type(kind))
    except msgspec.ValidationError as error:
        raise _invalid_parameter(name, kind, error) from error


def metric_parameters(metric: Metric) -> dict[str, Json]:
    """Return the parameters of a metric as JSON, ready for `build`.

    Defaults are included: they affect the score as much as the parameters that were set.
    """
    fields = dataclasses.fields(metric)  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    return {field.name: msgspec.to_builtins(getattr(metric, field.name)) for field in fields}


def check_packages(kinds: Iterable[type[Metric]]) -> None:
    """Raise `UsageError` if packages that metrics need are not installed, for all metrics at once:
    the hint is the one command that installs everything."""
    missing = {
        kind.name: packages
        for kind in kinds
        if (packages := [name for name in kind.imports if find_spec(name) is None])
    }
    if not missing:
        return
    packages = list(dict.fromkeys(name for names in missing.values() for name in names))
    unknown = [package for package in packages if package not in _EXTRAS]
    extras = [_EXTRAS[package] for package in packages if package in _EXTRAS]
    commands = [install_hint(*extras)] if extras else []
    commands += [f"pip install {' '.join(unknown)}"] if unknown else []
    names = ", ".join(map(repr, missing))
    subject = f"metric {names} needs" if len(missing) == 1 else f"metrics {names} need"
    objects = (
        f"the package {packages[0]!r}, which is not installed"
        if len(packages) == 1
        else f"packages that are not installed: {', '.join(packages)}"
    )
    raise UsageError(f"{subject} {objects}", hint=" && ".join(commands))


def _suggest_metric(name: str, known: Iterable[str]) -> str:
    metric = re.split(r"[=:]", name, maxsplit=1)[0]
    if metric != name and metric in known:
        return f"name {metric!r} alone; its threshold and parameters are separate options"
    return _suggest(name, known)


def _suggest(word: str, words: Iterable[str]) -> str:
    known = sorted(words)
    suggestion = did_you_mean(word, known)
    return suggestion or (f"known: {', '.join(known)}" if known else "it takes no parameters")


def _to_snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _invalid_parameter(name: str, kind: type[Metric], error: msgspec.ValidationError) -> UsageError:
    """Turn an error of msgspec into one that names the parameter and suggests a value."""
    message, _, path = str(error).partition(" - at `$")
    missing = _MISSING_FIELD.fullmatch(message)
    if missing:
        hint = f"such as --param {name}.{missing[1]}=…"
        return UsageError(f"metric {name!r} needs the parameter {missing[1]!r}", hint=hint)
    parameter = path.strip(".`").removesuffix("[...]")
    hint = None
    if invalid := _INVALID_CHOICE.fullmatch(message):
        choices = _literal_values(get_type_hints(kind)[parameter])
        message = f"found {invalid[1]}, expected one of {', '.join(map(str, choices))}"
        hint = did_you_mean(invalid[1].strip("'"), map(str, choices))
    description = f"{parameter}: {message}" if path else message
    return UsageError(f"metric {name!r}: {description}", hint=hint)


def _literal_values(annotation: object) -> list[object]:
    """Return the values that the `Literal`s in a type allow."""
    if get_origin(annotation) is Literal:
        return [*get_args(annotation)]
    return [value for part in get_args(annotation) for value in _literal_values(part)]
