"""Use-cases of recordings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from karat import plugins
from karat.api.golden import PathName
from karat.metrics import Need, lacks
from karat.schema import Problem, Trace, Understanding, Understood
from karat.traces import read
from karat.traces.source import Report
from karat.traces.sufficiency import sufficiency


def read_traces(
    *paths: PathName, report: Report = lambda _: None, spans: bool = False
) -> Iterator[Trace]:
    """What an agent did, by recordings of any container and convention; several files are one
    input. With `spans` each trace keeps the spans that it was read from."""
    return read.read_traces([Path(path) for path in paths], report=report, keep_spans=spans)


def understand(paths: Iterable[PathName]) -> Understanding:
    """What recordings say, and which metrics they can support."""
    problems: list[Problem] = []
    needs = _needs()
    hints: dict[str, tuple[str, ...]] = {}
    found: list[Understood] = []
    for trace in read_traces(*paths, report=problems.append):
        enough = sufficiency(trace, needs, lacks)
        found.append(Understood(trace=trace, supports=enough.supports))
        for reason, hint in enough.hints.items():
            known = hints.get(reason, ())
            hints[reason] = known if hint in known else (*known, hint)
    return Understanding(traces=tuple(found), hints=hints, problems=tuple(problems))


def _needs() -> dict[str, tuple[Need, ...]]:
    return {name: metric.needs for name, metric in plugins.metrics().items()}
