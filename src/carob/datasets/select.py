"""Select cases of a dataset: by tag, metadata, expression, id, number, and at random."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice

from carob.datasets.where import compile_where
from carob.errors import UsageError
from carob.files.spool import Spool
from carob.schema import Case, CaseSelection, Dataset
from carob.schema.codec import CASES
from carob.text.spelling import did_you_mean


def select_cases(dataset: Dataset, selection: CaseSelection) -> Dataset:
    """Return the cases that meet every condition, in the order of the dataset. Raises `UsageError`
    for an unknown id, an invalid expression, and if no case is left."""
    matches = compile_where(selection.where) if selection.where is not None else None
    tags, ids = frozenset(map(str.casefold, selection.tags)), frozenset(selection.cases)
    _check_ids(dataset, selection.cases)
    filters = dict(map(parse_filter, selection.filters))
    cases = (
        case
        for case in dataset.cases
        if (not tags or tags <= {*map(str.casefold, case.tags)})
        and (not ids or case.id in ids)
        and (not matches or matches(case))
        and all(_has_value(case, key, values) for key, values in filters.items())
    )
    if selection.sample is not None:
        cases = iter(draw_sample(_spool_cases(cases), selection))
    part = dataset.with_cases(_spool_cases(islice(cases, selection.limit)))
    if not part.cases:  # a run or a suite without cases would pass
        raise _no_match(dataset)
    return part


def _check_ids(dataset: Dataset, ids: Sequence[str]) -> None:
    known = {case.id for case in dataset.cases} if ids else set[str]()
    for id in ids:
        if id not in known:
            hint = did_you_mean(id, sorted(known)) or f"{dataset.name} has {len(known)} cases"
            raise UsageError(f"unknown case {id!r}", where=dataset.name, hint=hint)


def _no_match(dataset: Dataset) -> UsageError:
    summary = dataset.summary()
    tags = ", ".join(summary.tags) or "none"
    fields = ", ".join(f"metadata.{name}" for name in summary.metadata) or "none"
    return UsageError(
        f"none of the {summary.cases} cases matches",
        where=dataset.name,
        hint=f"the tags are {tags}; the metadata fields are {fields}",
    )


def _spool_cases(cases: Iterable[Case]) -> Sequence[Case]:
    spool = Spool(CASES)  # a part of a large dataset may be large, too
    spool.extend(cases)
    return spool.finish()


def parse_filter(text: str) -> tuple[str, frozenset[str]]:
    """Parse `KEY:VALUE,VALUE`. Raises `UsageError`."""
    key, colon, values = text.partition(":")
    if not colon or not key or not values:
        hint = "such as --filter complexity:high,medium"
        raise UsageError(f"invalid filter {text!r}; expected KEY:VALUE,VALUE", hint=hint)
    return key, frozenset(value.strip().casefold() for value in values.split(","))


def _has_value(case: Case, key: str, values: frozenset[str]) -> bool:
    return not values.isdisjoint(_values(case, key))


def _values(case: Case, key: str) -> list[str]:
    value = [*case.tags] if key == "tag" else case.metadata.get(key)
    items = value if isinstance(value, list) else [value]
    return [str(item).casefold() for item in items if item is not None]


def draw_sample(cases: Sequence[Case], selection: CaseSelection) -> Iterator[Case]:
    """Draw cases at random, each stratum with its share, and yield them in their order. The same
    seed draws the same cases, and cases that are added elsewhere change it as little as
    possible."""
    strata: dict[str, list[tuple[bytes, int]]] = {}
    for place, case in enumerate(cases):
        values = _values(case, selection.stratify) if selection.stratify else []
        lot = _lot(case.id, selection.seed)
        strata.setdefault(min(values, default=""), []).append((lot, place))
    number = min(selection.sample or 0, len(cases))
    shares = _shares({name: len(members) for name, members in strata.items()}, number)
    drawn = [
        place for name, members in strata.items() for _, place in sorted(members)[: shares[name]]
    ]
    return (cases[place] for place in sorted(drawn))


def _shares(sizes: Mapping[str, int], number: int) -> dict[str, int]:
    """Divide a number in proportion; what is left goes to the largest remainders."""
    total = sum(sizes.values())
    exact = {name: number * size / total for name, size in sizes.items()}
    shares = {name: int(share) for name, share in exact.items()}
    rest = sorted(sizes, key=lambda name: (shares[name] - exact[name], name))
    for name in rest[: number - sum(shares.values())]:
        shares[name] += 1
    return shares


def _lot(id: str, seed: int) -> bytes:
    return blake2b(f"{seed}\0{id}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
