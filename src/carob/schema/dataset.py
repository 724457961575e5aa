from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from carob.schema.case import Case
from carob.schema.noun import Json, Noun
from carob.schema.origin import Origin
from carob.schema.summary import Summary


class Dataset(Noun, frozen=True):
    """Golden data: named, versioned, tagged cases. It never changes; each verb makes a new one."""

    name: str
    cases: Sequence[Case] = ()
    title: str | None = None
    version: str | None = None
    description: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, Json] = {}
    created_at: str | None = None
    """ISO 8601."""
    origin: Origin | None = None

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "cases", tuple(self.cases))

    def by_tag(self, tag: str) -> Dataset:
        """The cases that carry a tag."""
        return self.subset(lambda case: tag in case.tags)

    def subset(self, keep: Callable[[Case], bool]) -> Dataset:
        """The cases that `keep` is true of."""
        return self.with_cases(case for case in self.cases if keep(case))

    def add(self, *cases: Case) -> Dataset:
        """The same dataset with more cases at the end."""
        return self.with_cases((*self.cases, *cases))

    def with_cases(self, cases: Iterable[Case]) -> Dataset:
        """The same dataset with other cases."""
        return msgspec.structs.replace(self, cases=tuple(cases))

    def summary(self) -> Summary:
        """What the dataset is made of."""
        return Summary.of(self.name, self.cases, version=self.version)
