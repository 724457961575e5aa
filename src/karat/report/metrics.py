"""The installed metrics as text for a person."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from karat.schema import MetricInfo

_WIDTH = 100


def text(found: tuple[MetricInfo, ...]) -> str:
    """Each metric with its meaning, then what it needs and how it is measured."""
    return "\n".join(line for one in found for line in _metric(one)) + "\n"


def _metric(one: MetricInfo) -> Iterator[str]:
    kind = "judged by a model" if one.judged else "offline"
    yield f"{one.name}@{one.version}  {kind}, {_scale(one)}, {_threshold(one)}"
    yield from wrap(one.meaning, _WIDTH, initial_indent="  ", subsequent_indent="  ")
    if one.needs:
        yield f"  needs {', '.join(one.needs)}"
    if one.params:
        yield f"  takes {', '.join(one.params)}"
    if one.packages:
        yield f"  with the package {', '.join(one.packages)}"
    yield ""


def _scale(one: MetricInfo) -> str:
    low, high = one.scale
    scale = f"from {low:g}" if high is None else f"{low:g} to {high:g}"
    return f"{scale}, {one.better} is better"


def _threshold(one: MetricInfo) -> str:
    return "informs" if one.threshold is None else f"threshold {one.threshold:g}"
