"""K501 and K502: are there more than happy paths?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.datasets.lint.check import WHOLE, Found, Item
from carob.datasets.lint.tags import folded
from carob.schema import Case, Dataset

_WORDS = {
    "happy-path": "happy-path happy happy-case positive normal nominal typical basic golden-path",
    "edge-case": "edge-case edge corner-case corner boundary borderline unusual",
    "error-handling": "error-handling error failure negative invalid exception fault sad-path "
    "unhappy-path out-of-scope refusal",
    "ambiguous": "ambiguous ambiguity ambiguou unclear vague clarification underspecified",
}
_KINDS = {folded(word): kind for kind, words in _WORDS.items() for word in words.split()}
_MOST = 0.8
_ENOUGH = 10
"""With fewer cases a share says nothing."""


class Coverage:
    """A case says what it is by a tag, or by a value in its metadata."""

    rules = ("K501", "K502")

    def __init__(self) -> None:
        self._counts = dict.fromkeys(_WORDS, 0)

    def see(self, item: Item) -> Iterable[Found]:
        for kind in _kinds(item.case):
            self._counts[kind] += 1
        return ()

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        total = sum(self._counts.values())
        if not cases:
            return
        if not total:
            kinds = ", ".join(_WORDS)
            message = "no case says whether it is a happy path, an edge case, an error or ambiguous"
            yield Found("K502", WHOLE, message, f"tag the cases with {kinds}")
            return
        absent = [kind for kind, count in self._counts.items() if not count]
        if absent:
            message = f"no case is tagged {' or '.join(repr(kind) for kind in absent)}"
            yield Found("K501", WHOLE, f"{message}, of {cases} cases", self._listing())
        largest = max(self._counts, key=lambda kind: self._counts[kind])
        if total >= _ENOUGH and self._counts[largest] > _MOST * total:
            message = f"{self._counts[largest]} of {total} tagged cases are {largest!r}"
            yield Found("K501", WHOLE, message, self._listing())

    def _listing(self) -> str:
        counts = ", ".join(f"{kind} {count}" for kind, count in self._counts.items())
        return f"the cases are: {counts}"


def _kinds(case: Case) -> set[str]:
    words = [*case.tags, *(value for value in case.metadata.values() if isinstance(value, str))]
    return {_KINDS[word] for word in map(folded, words) if word in _KINDS}
