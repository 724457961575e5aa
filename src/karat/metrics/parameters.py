"""Metrics from names and parameters that a user wrote; whatever is wrong is said before a run."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from importlib.util import find_spec

import msgspec

from karat.errors import UsageError
from karat.metrics.metric import Metric
from karat.schema import Json

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
        raise UsageError(f"unknown metric {name!r}", hint=_nearest(name, known))
    _check_imports(kind)
    fields = [field.name for field in dataclasses.fields(kind)]  # pyright: ignore[reportArgumentType] - every metric is a dataclass
    values: dict[str, Json] = {}
    for written, value in params.items():
        field = _snake(written)
        if field not in fields:
            raise UsageError(
                f"metric {name!r} has no parameter {written!r}", hint=_nearest(field, fields)
            )
        if field in values:
            raise UsageError(f"metric {name!r}: parameter {field!r} is given twice")
        values[field] = value
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        raise UsageError(f"metric {name!r}: {_place(error)}") from error


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
            hint=f"pip install 'karat[{extra}]'" if extra else f"pip install {absent[0]}",
        )


def _nearest(word: str, words: Iterable[str]) -> str:
    from difflib import get_close_matches  # late: only errors need it

    options = sorted(words)
    same = [repr(option) for option in options if option.lower() == word.lower()]
    if same:  # `Relevance` is judged and `relevance` is not: nobody guesses which is meant
        return f"did you mean {' or '.join(same)}?"
    close = get_close_matches(word, options, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(options)}" if options else "it takes no parameters"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _place(error: msgspec.ValidationError) -> str:
    """The message of msgspec with its path as a parameter name."""
    message, _, path = str(error).partition(" - at `$")
    return f"{path.strip('.`')}: {message}" if path else message
