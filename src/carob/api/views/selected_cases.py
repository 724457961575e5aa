"""Cases of a stored run that somebody selected, and what to run them again with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.golden.folder import GoldenFolder, find_file
from carob.api.load import REGISTRY
from carob.api.metrics import build_metric, metrics
from carob.api.run_cases import tagged_cases
from carob.api.serving.run_jobs import JobRequest, check_metrics
from carob.api.settings import load_trusted
from carob.api.store import store_url
from carob.api.views.run_index import CaseFilter, decode_result, run_indexes, select_rows
from carob.config import MetricChoice
from carob.errors import NotFoundError, RefusedError, UsageError
from carob.metrics.parameters import metric_parameters
from carob.schema import Json, MetricSpec, Run
from carob.store import open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_places

_READ = 500


class SelectedCases(NamedTuple):
    """Some results of a run."""

    run: Run
    """Without its cases."""
    places: tuple[int, ...]
    """Their positions in the run."""
    cases: tuple[str, ...]
    """The names of their cases; several attempts at a case are one."""
    failed_metrics: tuple[str, ...]
    """The metrics that they did not pass, the most frequent first."""


def select_cases(
    name: str,
    places: Sequence[int] = (),
    wanted: CaseFilter | None = None,
    *,
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> SelectedCases:
    """Return the results at some positions of a run; without any, those that a filter selects."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        index = run_indexes.get(database, number, run)
        if unknown := [place for place in places if not 0 <= place < len(index.rows)]:
            raise NotFoundError(f"{run.id} has no case at position {unknown[0]}")
        if places:
            rows = [index.rows[place] for place in dict.fromkeys(places)]
        else:
            wanted = wanted or CaseFilter()
            tagged = tagged_cases(run, wanted.tag, golden, registry)
            rows = select_rows(database, number, index, wanted, tagged)
    failed = [metric for row in rows for metric in row.metrics]
    return SelectedCases(
        run,
        tuple(row.place for row in rows),
        tuple(dict.fromkeys(row.case for row in rows)),
        tuple(sorted(dict.fromkeys(failed), key=failed.count, reverse=True)),
    )


def find_scoring_metric(
    selected: SelectedCases, metrics: Sequence[str], *, store: str | None = None
) -> str | None:
    """Return the first of the metrics that scored any of the selected cases."""
    scored: set[str] = set()
    with open_store(store_url(store)) as database:
        number, _ = read_head(database, find_execution(database, selected.run.id))
        for start in range(0, len(selected.places), _READ):
            bodies = read_places(database, number, selected.places[start : start + _READ])
            results = map(decode_result, bodies.values())
            scored |= {s.metric for result in results for s in result.scores if s.value is not None}
            if scored.issuperset(metrics[:1]):
                break
    return next((name for name in metrics if name in scored), None)


def request_again(selected: SelectedCases, *, target: str | None = None) -> JobRequest:
    """Return the request that scores the same cases with the same metrics and thresholds. Raises
    `RefusedError` if this server would score them in another way than the run did."""
    run = selected.run
    if run.dataset is None:
        raise UsageError("the run has no golden data", hint="its cases are not known")
    if run.summary.composite is not None:
        raise RefusedError("a scoring profile judged the run", hint="use `carob run --profile`")
    names = tuple(spec.name for spec in run.metrics)
    check_metrics(names)  # before they are built: a run may name files and code
    for spec in run.metrics:
        _check_same(spec)
    return JobRequest(
        dataset=run.dataset.name,
        target=target,
        metrics=names,
        thresholds={s.name: s.threshold for s in run.metrics if s.threshold is not None},
        cases=selected.cases,
    )


def _check_same(spec: MetricSpec) -> None:
    config = load_trusted(None)
    known = {choice.name: choice for choice in (*config.metrics, *config.unrequested)}
    metric = build_metric(known.get(spec.name) or MetricChoice(name=spec.name))
    same_threshold = spec.threshold is not None or metric.threshold is None
    if metric_parameters(metric) != spec.params or not same_threshold:
        hint = "run the command of this selection instead (key Y)"
        raise RefusedError(f"{spec.name} had other parameters in the run", hint=hint)


def command_again(run: Run, folder: GoldenFolder) -> tuple[str, ...] | None:
    """Return the arguments of the `carob` command that scores cases of a run again, to which
    `--case` is appended; `None` if the golden data of the run is not in the folder."""
    if run.dataset is None:
        return None
    try:
        file = find_file(folder, run.dataset.name)
    except (NotFoundError, RefusedError):
        return None
    arguments = ["run", "--traces-of", run.id, "--golden", str(file)]
    for spec in run.metrics:
        arguments += ["-m", spec.name]
        if spec.threshold is not None:
            arguments += ["--threshold", f"{spec.name}={spec.threshold:g}"]
        for key, value in _changed_parameters(spec).items():
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            arguments += ["--param", f"{spec.name}.{key}={text}"]
    return tuple(arguments)


def _changed_parameters(spec: MetricSpec) -> dict[str, Json]:
    try:
        (metric,) = metrics([spec.name])
    except UsageError:  # of a config; nobody knows its defaults
        return {}
    return {key: value for key, value in spec.params.items() if metric.params.get(key) != value}
