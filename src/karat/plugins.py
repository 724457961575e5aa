"""Entry points: the built-in formats and metrics come through the same door as anybody else's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points

from karat.datasets.formats import Format
from karat.errors import UsageError
from karat.metrics import Metric


@cache
def formats() -> tuple[Format, ...]:
    """Every golden format that is installed, by name."""
    return tuple(point.load()() for point in _found("karat.formats", "format"))


class Metrics(Mapping[str, type[Metric]]):
    """Every metric that is installed, by name; a metric is imported when it is asked for."""

    def __init__(self) -> None:
        self._points = {point.name: point for point in _found("karat.metrics", "metric")}

    def __getitem__(self, name: str) -> type[Metric]:
        return self._points[name].load()

    def __iter__(self) -> Iterator[str]:
        return iter(self._points)

    def __len__(self) -> int:
        return len(self._points)


@cache
def metrics() -> Metrics:
    return Metrics()


@cache
def _installed() -> tuple[EntryPoint, ...]:
    """What all packages bring for us; finding out takes long where many are installed."""
    found = entry_points()
    groups = ("karat.formats", "karat.metrics")
    return tuple(point for group in groups for point in found.select(group=group))


def _found(group: str, noun: str) -> list[EntryPoint]:
    points = [point for point in _installed() if point.group == group]
    points.sort(key=lambda point: point.name)
    names = [point.name for point in points]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"two installed packages bring a {noun} {twice!r}")
    return points
