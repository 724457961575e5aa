"""Golden data: named, versioned cases and their summary."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

import msgspec

from carob.schema.base import Json, Struct, prepare_type
from carob.schema.case import Case, SourceDocument
from carob.schema.notebook import html_table

_CONTAINER = re.compile(r"\.(document|list|rows|table)$")
"""The end of the key of a header; the format is before it."""


class DatasetSummary(Struct, frozen=True, omit_defaults=False):
    """Counts of what a dataset contains."""

    name: str
    version: str | None
    format: str | None
    cases: int
    with_context: int
    with_recorded_answer: int = msgspec.field(name="with_recording")
    turns: int
    multi_turn: int
    tags: dict[str, int]
    """The number of cases with each tag; likewise below."""
    tools: dict[str, int]
    agents: dict[str, int]
    metadata: dict[str, int]
    description: str | None = None
    dataset_tags: tuple[str, ...] = ()
    """The tags of the dataset itself."""

    @classmethod
    def of(cls, dataset: Dataset, cases: Iterable[Case]) -> DatasetSummary:
        """Count in one pass, so that the cases may be a stream. The other fields are taken from the
        dataset."""
        numbers: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        tools: Counter[str] = Counter()
        agents: Counter[str] = Counter()
        metadata: Counter[str] = Counter()
        origin = None
        for case in cases:
            origin = origin or case.origin
            numbers["cases"] += 1
            numbers["with_context"] += bool(case.context)
            numbers["with_recorded_answer"] += case.recorded is not None
            numbers["turns"] += len(case.turns)
            numbers["multi_turn"] += len(case.turns) > 1
            tags.update(set(case.tags))
            tools.update(expected_tools(case))
            agents.update(set(case.agents or ()))
            metadata.update(case.metadata.keys())
        return cls(
            name=dataset.name,
            version=dataset.version,
            description=dataset.description,
            dataset_tags=dataset.tags,
            format=_CONTAINER.sub("", origin.format) if origin else None,
            cases=numbers["cases"],
            with_context=numbers["with_context"],
            with_recorded_answer=numbers["with_recorded_answer"],
            turns=numbers["turns"],
            multi_turn=numbers["multi_turn"],
            tags=_rank(tags),
            tools=_rank(tools),
            agents=_rank(agents),
            metadata=_rank(metadata),
        )


def expected_tools(case: Case) -> set[str]:
    """The names of all tools that the case expects to be called."""
    calls = [call for turn in case.turns for call in turn.tool_calls or ()]
    return {call.name for call in (*calls, *(case.tool_calls or ()))}


def _rank(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


_SHOWN_IDS = 3


def _describe_case(case: Case) -> tuple[str | None, ...]:
    first = case.turns[0] if case.turns else None
    tags = ", ".join(case.tags)
    return case.id, first.user if first else None, first.response if first else None, tags


def _check_case(case: object) -> None:
    """Check the fields of a case: its constructor takes any values, and a wrong one would only be
    found when the dataset is written or scored."""
    if not isinstance(case, Case):
        raise TypeError(f"expected a Case, got {type(case).__name__}")
    bare = msgspec.structs.replace(case, origin=None)
    try:
        msgspec.json.decode(msgspec.json.encode(bare), type=prepare_type(Case))
    except (msgspec.ValidationError, TypeError) as error:
        raise TypeError(f"case {case.id!r}: {error}") from error


class CaseSelection(Struct, frozen=True):
    """Conditions that select cases of a dataset. A case must meet all of them."""

    tags: tuple[str, ...] = ()
    """Tags that a case must have."""
    where: str | None = None
    """An expression over the fields of a case."""
    cases: tuple[str, ...] = ()
    """Ids of cases."""
    limit: int | None = None
    """Number of cases, from the first one that meets the other conditions."""
    total: int | None = None
    """Number of cases in the whole dataset, in the record of a run."""
    filters: tuple[str, ...] = ()
    """Values that the metadata of a case must have, as `KEY:VALUE,VALUE`."""
    sample: int | None = None
    """Number of cases to draw from those that meet the other conditions."""
    stratify: str | None = None
    """The key of the metadata, or `tag`, whose values the sample has in the same shares."""
    seed: int = 0
    """Determines the sample."""

    def __bool__(self) -> bool:
        numbers = (self.limit, self.sample)
        conditions = self.tags or self.where or self.cases or self.filters
        return bool(conditions or any(number is not None for number in numbers))


class Dataset(Struct, frozen=True):
    """Golden data: named, versioned, tagged cases. Immutable: each method returns a new dataset."""

    name: str
    cases: Sequence[Case] = ()
    title: str | None = None
    version: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}
    created_at: str | None = None
    """ISO 8601."""
    origin: SourceDocument | None = None

    def __post_init__(self) -> None:
        # Other sequences stay: the cases of a large dataset may be in a file.
        cases = cast("object", self.cases)  # `with_cases` takes iterators as well
        if isinstance(cases, list) or not isinstance(cases, Sequence):
            msgspec.structs.force_setattr(self, "cases", tuple(self.cases))

    def __len__(self) -> int:
        return len(self.cases)

    def __bool__(self) -> bool:
        return True  # a dataset without cases is still a dataset

    def __iter__(self) -> Iterator[Case]:
        return iter(self.cases)

    def __getitem__(self, key: int | str) -> Case:
        """A case by its index or by its id."""
        if isinstance(key, int):
            return self.cases[key]
        for case in self.cases:
            if case.id == key:
                return case
        raise KeyError(key)

    def __repr__(self) -> str:
        version = f" {self.version}" if self.version else ""
        ids = ", ".join(case.id for case in self.cases[:_SHOWN_IDS])
        more = ", …" if len(self.cases) > _SHOWN_IDS else ""
        return f"<Dataset {self.name!r}{version}: {self._count()}{ids and f' ({ids}{more})'}>"

    def _repr_html_(self) -> str:
        title, columns = f"{self.name}: {self._count()}", ("id", "input", "expected", "tags")
        return html_table(title, columns, [_describe_case(case) for case in self.cases])

    def _count(self) -> str:
        return "1 case" if len(self.cases) == 1 else f"{len(self.cases)} cases"

    def by_tag(self, tag: str) -> Dataset:
        """The cases with a tag, in any case."""
        folded = tag.casefold()
        return self.subset(lambda case: folded in map(str.casefold, case.tags))

    def subset(self, keep: Callable[[Case], bool]) -> Dataset:
        """The cases for which `keep` is true."""
        return self.with_cases(case for case in self.cases if keep(case))

    def add(self, *cases: Case) -> Dataset:
        """The same dataset with more cases at the end. Raises `TypeError` for anything else."""
        for case in cases:
            _check_case(case)
        return self.with_cases((*self.cases, *cases))

    def with_cases(self, cases: Iterable[Case]) -> Dataset:
        """The same dataset with other cases."""
        return msgspec.structs.replace(self, cases=cases)

    def summary(self) -> DatasetSummary:
        """Count what the dataset contains."""
        return DatasetSummary.of(self, self.cases)


class FormatInfo(Struct, frozen=True, omit_defaults=False):
    """A golden format."""

    name: str
    containers: tuple[str, ...]
    """What a file of it can be: a JSON `document`, JSON `rows`, or a `table`."""
    writable: bool
    recognized_by: str
