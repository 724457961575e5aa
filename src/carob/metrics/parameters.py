"""Metrics from names and parameters that a user wrote; whatever is wrong is said before a run."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Literal, get_args, get_origin, get_type_hints

import msgspec

from carob.errors import UsageError
from carob.metrics.metric import Metric
from carob.schema import Json
from carob.text.spelling import meant

_EXTRAS = {
    "detect_secrets": "safety",
    "genai_prices": "metrics",
    "glin_profanity": "safety",
    "jsonschema": "metrics",
    "model2vec": "semantic",
    "phonenumbers": "safety",
    "stdnum": "safety",
}
"""Which extra of ours brings an optional package."""


def build(name: str, params: Mapping[str, Json], known: Mapping[str, type[Metric]]) -> Metric:
    """The metric of that name, with parameters in snake_case or camelCase."""
    kind = known.get(name)
    if kind is None:
        raise UsageError(f"unknown metric {name!r}", hint=_hint(name, known))
    _check_imports(kind)
    fields = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    values: dict[str, Json] = {}
    for written, value in params.items():
        field = _snake(written)
        if field not in fields:
            raise UsageError(
                f"metric {name!r} has no parameter {written!r}", hint=_hint(field, fields)
            )
        if field in values:
            raise UsageError(f"metric {name!r}: parameter {field!r} is given twice")
        values[field] = value
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise _refused(name, kind, error) from error


def parameters(metric: Metric) -> dict[str, Json]:
    """The parameters of a metric as JSON, ready for `build`. All of them: what is left at its
    default decides a score as much as what was written."""
    fields = dataclasses.fields(metric)  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    return {field.name: msgspec.to_builtins(getattr(metric, field.name)) for field in fields}


def _check_imports(kind: type[Metric]) -> None:
    absent = [package for package in kind.imports if find_spec(package) is None]
    if absent:
        extra = _EXTRAS.get(absent[0])
        raise UsageError(
            f"metric {kind.name!r} needs the package {absent[0]!r}, which is not installed",
            hint=f"pip install 'carob[{extra}]'" if extra else f"pip install {absent[0]}",
        )


def _hint(word: str, words: Iterable[str]) -> str:
    known = sorted(words)
    near = meant(word, known)
    return near or (f"known: {', '.join(known)}" if known else "it takes no parameters")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _refused(name: str, kind: type[Metric], error: msgspec.ValidationError) -> UsageError:
    """The message of msgspec with its path as a parameter name, and the word that was meant."""
    message, _, path = str(error).partition(" - at `$")
    absent = _ABSENT.fullmatch(message)
    if absent:
        hint = f"such as --param {name}.{absent[1]}=…"
        return UsageError(f"metric {name!r} needs the parameter {absent[1]!r}", hint=hint)
    place = path.strip(".`").removesuffix("[...]")
    hint = None
    if found := _NO_WORD.fullmatch(message):
        words = _words(get_type_hints(kind)[place])
        message = f"found {found[1]}, expected one of {', '.join(map(str, words))}"
        hint = meant(found[1].strip("'"), map(str, words))
    told = f"{place}: {message}" if path else message
    return UsageError(f"metric {name!r}: {told}", hint=hint)


_ABSENT = re.compile(r"Object missing required field `(\w+)`")
_NO_WORD = re.compile(r"Invalid enum value (.*)", re.DOTALL)


def _words(hint: object) -> list[object]:
    """The values that the `Literal`s in a type allow."""
    if get_origin(hint) is Literal:
        return [*get_args(hint)]
    return [word for part in get_args(hint) for word in _words(part)]
