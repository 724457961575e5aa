"""The installed metrics as text for a person."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

import msgspec

from carob.schema import Json, MetricInfo

_WIDTH = 100


def text(found: tuple[MetricInfo, ...], *, fully: bool = False) -> str:
    """Each metric with its meaning and what it needs; fully, also how it is measured."""
    return "\n".join(line for one in found for line in _metric(one, fully)) + "\n"


def _metric(one: MetricInfo, fully: bool) -> Iterator[str]:
    kind = "judged by a model" if one.judged else "offline"
    yield f"{one.name}@{one.version}  {kind}, {_scale(one)}, {_threshold(one)}"
    for part in one.description.split("\n\n") if fully else [one.meaning]:
        yield from wrap(part, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    if one.needs:
        yield f"  needs {', '.join(one.needs)}"
    if one.params and fully:
        yield from (f"  --param {one.name}.{name}={_json(one.params[name])}" for name in one.params)
    elif one.params:
        yield f"  takes {', '.join(one.params)}"
    if one.packages:
        yield f"  with the package {', '.join(one.packages)}"
    yield ""


def _json(value: Json) -> str:
    """A default as it would be typed."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _scale(one: MetricInfo) -> str:
    low, high = one.scale
    scale = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return f"{scale}, {one.better} is better"


def _threshold(one: MetricInfo) -> str:
    return "informs" if one.threshold is None else f"threshold {one.threshold:g}"
