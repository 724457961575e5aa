"""Find cases by id and by first message, also if the cases are in a file.

Only digests are in memory, eight bytes each, because every worker process has its own index. A case
that a digest points at is loaded, and its text is compared, before a trace is paired with it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from unicodedata import normalize

from carob.files.digest_table import DigestTable, text_digest
from carob.schema import Case


class CaseIndex(Mapping[str, Case]):
    """Cases by id and by first message. Of several rows with the same id, the last one counts."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.cases = cases
        self._turns = array("L")
        # Tuples of numbers would take ten times the memory of these arrays.
        ids, places, exact, folded = array("Q"), array("Q"), array("Q"), array("Q")
        for place, case in enumerate(cases):
            ids.append(text_digest(case.id))
            self._turns.append(len(case.turns))
            message = first_message(case)
            if message is not None:
                places.append(place)
                exact.append(text_digest(message))
                folded.append(text_digest(fold_text(message)))
        self._ids = DigestTable(zip(ids, range(len(ids)), strict=True))
        self._folded = DigestTable(zip(folded, places, strict=True))
        # Traces usually repeat the message of their case exactly: this finds the digest of the
        # folded message without folding it again for every trace.
        self._exact = DigestTable(zip(exact, folded, strict=True))

    def __getitem__(self, id: str) -> Case:
        return self._find(id)[1]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(case.id for case in self.cases))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def position(self, id: str) -> int:
        """Return the position of a case that is known to exist, if possible without loading it."""
        places = self._ids.find(text_digest(id))
        return places[0] if len(places) == 1 else self._find(id)[0]

    def _find(self, id: str) -> tuple[int, Case]:
        for place in reversed(self._ids.find(text_digest(id))):
            case = self.cases[place]
            if case.id == id:
                return place, case
        raise KeyError(id)

    def find_message(self, message: str, turns: int) -> Sequence[int]:
        """Return the positions of the cases that begin with a message; of several, those with as
        many turns, if there are any."""
        known = self._exact.find(text_digest(message))
        key = known[0] if known else text_digest(fold_text(message))
        places = self._folded.find(key)
        if len(places) > 1:
            places = [place for place in places if self._turns[place] == turns] or places
        return places


def begins_with(case: Case, message: str) -> bool:
    """Return whether a case begins with a message, ignoring case and whitespace."""
    actual = first_message(case) or ""
    return actual == message or fold_text(actual) == fold_text(message)


def first_message(case: Case) -> str | None:
    """Return the message that starts a case."""
    if case.turns:
        return case.turns[0].user
    return case.scenario.prompt if case.scenario else None


def fold_text(text: str) -> str:
    """Return a text without the differences that pairing ignores. Systems differ in how they encode
    `é`: as one character or as two."""
    if not text.isascii():
        text = normalize("NFC", text)
    return " ".join(text.casefold().split())
