"""Which cases of a run a filter selects, for reports and pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from carob.api.golden.folder import GoldenFolder, dataset_name, golden_files
from carob.api.load import REGISTRY, load
from carob.api.versions import load_reference
from carob.api.views.run_index import CaseFilter, filter_rows, index_results, parse_cause
from carob.errors import CarobError, NotFoundError
from carob.schema import Case, CaseResult, Run, Status
from carob.schema.codec import RESULTS
from carob.text.spelling import did_you_mean


def filter_results(
    run: Run,
    *,
    status: Status | None = None,
    metric: str | None = None,
    tag: str | None = None,
    cause: str | None = None,
    text: str = "",
    cases: Sequence[str] = (),
    order: str = "worst",
    golden: Path | None = None,
) -> tuple[CaseResult, ...]:
    """Return the results of a run that a filter selects, in its order. `golden` is the file with
    the tags of its cases; by default it is looked for in the folder of golden data."""
    index = index_results(run, enumerate(run.cases))
    check_names(run, "metric", [metric] if metric else [], [spec.name for spec in run.metrics])
    check_names(run, "case", cases, index.places)
    parsed = None if cause is None else parse_cause(cause)
    wanted = CaseFilter(status=status, metric=metric, cause=parsed, text=text, order=order)
    tagged = tagged_cases(run, tag, golden or REGISTRY.parent, REGISTRY)
    rows = filter_rows(
        index, wanted, lambda: ((n, RESULTS.encode(result)) for n, result in enumerate(run.cases))
    )
    selected = [row for row in rows if not cases or row.case in cases]
    return tuple(run.cases[row.place] for row in selected if tagged is None or row.case in tagged)


def check_names(run: Run, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise `NotFoundError` for the name of a metric or case that the run does not have."""
    for name in names:
        if name not in known:
            raise NotFoundError(f"{run.id} has no {kind} {name!r}", hint=did_you_mean(name, known))


def tagged_cases(run: Run, tag: str | None, golden: Path, registry: Path) -> Collection[str] | None:
    """Return the cases with a tag. Runs do not store tags, so that the golden data says it."""
    if tag is None:
        return None
    name, version = (run.dataset.name, run.dataset.version) if run.dataset else ("", None)
    if golden.is_file():
        cases = load(golden).cases
    else:
        cases = next(find_datasets(name, version, golden, registry), None)
    if cases is None:
        hint = f"tags are read from the golden data of a run: put it into {golden.name}/"
        raise NotFoundError(f"the golden data of {run.id} was not found", hint=hint)
    return {case.id for case in cases if tag.casefold() in map(str.casefold, case.tags)}


def find_datasets(
    name: str, version: str | None, golden: Path, registry: Path
) -> Iterator[Sequence[Case]]:
    """Yield the cases of a dataset: of the release that is named, then of the files in the folder
    that hold it."""
    if version:
        with suppress(CarobError):  # not released here; a file may still have it
            yield load_reference(f"{name}@{version}", registry).cases
    folder = GoldenFolder(golden, registry)
    for file in golden_files(folder):
        with suppress(CarobError):  # the page of datasets says what is wrong with it
            if dataset_name(file) == name:
                yield load(file).cases
