"""C501 to C503: does the dataset cover more than happy paths, and is it large enough?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from carob.datasets.lint.rules import (
    WHOLE_DATASET,
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
)
from carob.datasets.lint.tags import fold_tag
from carob.schema import Case, Dataset, DatasetPurpose, LintRule

UNBALANCED_COVERAGE = LintRule(
    id="C501",
    name="unbalanced-coverage",
    level="warning",
    summary="Happy paths, edge cases, errors and ambiguous questions are not all covered.",
)
UNKNOWN_COVERAGE = LintRule(
    id="C502",
    name="unknown-coverage",
    level="note",
    summary="No case is tagged as a happy path, an edge case, an error or ambiguous.",
)
UNFIT_SIZE = LintRule(
    id="C503",
    name="unfit-size",
    level="warning",
    summary="The dataset is too small or too large for its use.",
)

_SYNONYMS = {
    "happy-path": "happy-path happy happy-case positive normal nominal typical basic golden-path",
    "edge-case": "edge-case edge corner-case corner boundary borderline unusual",
    "error-handling": "error-handling error failure negative invalid exception fault sad-path "
    "unhappy-path out-of-scope refusal",
    "ambiguous": "ambiguous ambiguity ambiguou unclear vague clarification underspecified",
}
_KINDS = {fold_tag(word): kind for kind, words in _SYNONYMS.items() for word in words.split()}
_LARGEST_SHARE = 0.8
_FEWEST_TAGGED = 10
"""With fewer tagged cases a share means nothing."""


class Coverage(RuleFamily):
    """The kind of a case is a tag, or a value in its metadata."""

    rules = (UNBALANCED_COVERAGE, UNKNOWN_COVERAGE)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._counts = dict.fromkeys(_SYNONYMS, 0)

    def visit(self, item: LintItem) -> Iterable[Violation]:
        for kind in _kinds(item.case):
            self._counts[kind] += 1
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        total = sum(self._counts.values())
        if not cases:
            return
        if not total and self.settings.use is None:
            return  # a dataset of unknown use may do without these tags
        if not total:
            kinds = ", ".join(_SYNONYMS)
            message = "no case is tagged as a happy path, an edge case, an error or ambiguous"
            yield Violation(UNKNOWN_COVERAGE, WHOLE_DATASET, message, f"add the tags {kinds}")
            return
        absent = [kind for kind, count in self._counts.items() if not count]
        if absent:
            kinds = " or ".join(repr(kind) for kind in absent)
            message = f"none of the {cases} cases is tagged {kinds}"
            yield Violation(UNBALANCED_COVERAGE, WHOLE_DATASET, message, self._listing())
        largest = max(self._counts, key=lambda kind: self._counts[kind])
        if total >= _FEWEST_TAGGED and self._counts[largest] > _LARGEST_SHARE * total:
            message = f"{self._counts[largest]} of {total} tagged cases are {largest!r}"
            yield Violation(UNBALANCED_COVERAGE, WHOLE_DATASET, message, self._listing())

    def _listing(self) -> str:
        counts = ", ".join(f"{kind} {count}" for kind, count in self._counts.items())
        return f"tagged cases: {counts}"


def _kinds(case: Case) -> set[str]:
    words = [*case.tags, *(value for value in case.metadata.values() if isinstance(value, str))]
    return {_KINDS[word] for word in map(fold_tag, words) if word in _KINDS}


class _SizeRange(NamedTuple):
    least: int
    most: int | None

    def __str__(self) -> str:
        return f"{self.least} to {self.most}" if self.most else f"{self.least} or more"


_SIZES: dict[DatasetPurpose, _SizeRange] = {
    "development": _SizeRange(10, 20),
    "pre-release": _SizeRange(50, 100),
    "regression": _SizeRange(100, None),
    "production": _SizeRange(500, None),
}


class DatasetSize(RuleFamily):
    """The number of cases that each use of a dataset needs."""

    rules = (UNFIT_SIZE,)

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        use = self.settings.use
        if use is None:
            return
        size = _SIZES[use]
        message = f"{cases} cases, expected {size} for {use}"
        if cases < size.least:
            hint = f"add {size.least - cases} cases: differences between so few are mostly chance"
            yield Violation(UNFIT_SIZE, WHOLE_DATASET, message, hint)
        elif size.most is not None and cases > size.most:
            hint = "every run takes longer: select a part of it with `carob subset`"
            yield Violation(UNFIT_SIZE, WHOLE_DATASET, message, hint)
