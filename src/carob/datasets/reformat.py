"""Convert a dataset to the format of another one, so that the two can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.datasets.formats import Format, format_of
from carob.datasets.write import Destination, PreparedDataset, prepare_dataset
from carob.files.ids import unique_ids
from carob.files.spool import Spool
from carob.schema import Case, Dataset, Loss
from carob.schema.codec import CASES


class ReformattedDataset(NamedTuple):
    """The dataset in the other format, and the fields that have no equivalent there."""

    dataset: Dataset
    losses: Sequence[Loss] = ()


def reformat_like(dataset: Dataset, like: Dataset, formats: Sequence[Format]) -> ReformattedDataset:
    """The dataset as if it had been read from the format of `like`.

    Unchanged if that is its own format or a read-only one. If `like` preserves fields that its
    format has no equivalent for, it is more than its format, and cases are compared as they are.
    """
    destination = _destination(like, formats)
    if destination is None or (dataset.origin and _format_name(dataset) == destination.format.name):
        return ReformattedDataset(dataset)
    # If `like` itself loses fields when it is written again, those fields come from round-trip
    # data, and comparing without them would report them as removed.
    preserved = prepare_dataset(_without_origin(like), destination, formats).losses
    prepared = prepare_dataset(dataset, destination, formats)
    header, losses = dataset, prepared.losses
    if not any(loss.case is None and loss.field != "name" for loss in preserved):
        lens = destination.format.header(destination.container, destination.stem)
        header = lens.get(prepared.header.doc)
    if any(loss.case is not None for loss in preserved):
        omitted = {loss.case for loss in prepared.omitted}
        cases, losses = _collect(case for case in dataset.cases if case.id not in omitted), ()
    else:
        cases = _read_back(prepared)
    return ReformattedDataset(header.with_cases(cases), losses)


def _read_back(prepared: PreparedDataset) -> Sequence[Case]:
    form = prepared.destination.format
    lens = form.cases(prepared.destination.container)
    cases = _collect(lens.read(written.doc) for written in prepared.cases)
    if not form.derives_ids:
        return cases
    ids = unique_ids(case.id for case in cases)
    pairs = zip(cases, ids, strict=True)
    return _collect(msgspec.structs.replace(case, id=name) for case, name in pairs)


def _destination(like: Dataset, formats: Sequence[Format]) -> Destination | None:
    for form in formats:
        for container in form.containers:
            key = form.header(container, "").key
            if form.writable and like.origin and like.origin.format == key:
                return Destination(Path(like.name), form, container)
    return None


def _format_name(dataset: Dataset) -> str:
    return format_of(dataset.origin.format) if dataset.origin else ""


def _without_origin(dataset: Dataset) -> Dataset:
    """The dataset without its source documents, which would be written back unchanged."""
    cases = _collect(msgspec.structs.replace(case, origin=None) for case in dataset.cases)
    return msgspec.structs.replace(dataset, origin=None, cases=cases)


def _collect(cases: Iterable[Case]) -> Sequence[Case]:
    spool = Spool(CASES)
    spool.extend(cases)
    return spool.finish()
