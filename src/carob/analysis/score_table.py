"""The numbers of a run without its texts: what statistics over a million cases keep in memory.

A table has one row per result of the run, which it reads once. Texts, such as reasons and answers,
stay where the run is; they are read again for the few cases that are shown.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache, cached_property
from hashlib import blake2b
from typing import get_args

from carob.schema import CaseResult, CaseScore, Run, Status
from carob.schema.status import case_status

_STATUSES: tuple[Status, ...] = get_args(Status)
_CODES = {status: code for code, status in enumerate(_STATUSES, 1)}
PASSED, FAILED = _CODES["passed"], _CODES["failed"]
"""Codes of a status. A byte of a table has the code in its lowest bits; 0 is no score."""
STATUS, _NOT_APPLICABLE, _DECIDES, HAS_VALUE = 7, 8, 16, 32
_DIGEST = 8
"""Bytes of a digest. Only digests of the same case are compared, so that these are enough."""
_NO_ROW = -1
_MAX_BYTE = 255


class CaseNumbers:
    """Numbers for the ids of cases. Tables that are compared share them, so that an id that all of
    them have is in memory once."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, case: str) -> int:
        """Return the number of a case. A new case gets the next number."""
        return self._numbers.setdefault(case, len(self._numbers))

    def __contains__(self, case: str) -> bool:
        return case in self._numbers

    @cached_property
    def names(self) -> Sequence[str]:
        """The cases by number. Ask when all tables are filled."""
        return list(self._numbers)


class MetricRows:
    """The scores of one metric: a value and a byte of flags per row."""

    def __init__(self, rows: int) -> None:
        self.values = array("d", bytes(8 * rows))
        self.codes = bytearray(rows)

    def fill(self, row: int, score: CaseScore) -> None:
        """Enter a score. Of several scores of the same metric the last one counts."""
        code = _CODES[score.status]
        if score.value is not None:
            code |= HAS_VALUE
            self.values[row] = score.value
        if score.threshold is not None:
            code |= _DECIDES
        if score.not_applicable is True:
            code |= _NOT_APPLICABLE
        self.codes[row] = code


class _TextRows:
    """A text per row, of which there are few different ones; often none, or one for all rows."""

    def __init__(self, rows: int) -> None:
        self._codes = array("B", bytes(rows))
        self._by_text: dict[str, int] = {}
        self._texts: list[str | None] = [None]

    def fill(self, row: int, text: str) -> None:
        code = self._by_text.get(text)
        if code is None:
            code = self._by_text[text] = len(self._texts)
            self._texts.append(text)
            # A byte per row is enough for most runs; a run may have a mapping per case.
            if code == _MAX_BYTE + 1:
                self._codes = array("I", self._codes)
        self._codes[row] = code

    def __getitem__(self, row: int) -> str | None:
        return self._texts[self._codes[row]]


class ScoreTable:
    """The results of a run that have a case, except those of `excluded` cases."""

    def __init__(self, run: Run, cases: CaseNumbers, excluded: Collection[str] = ()) -> None:
        self.run, self.cases = run, cases
        rows = len(run.cases)
        self._numbers = array("i", [_NO_ROW]) * rows
        self.statuses = bytearray(rows)
        self.metrics = {spec.name: MetricRows(rows) for spec in run.metrics}
        self._profiles, self._mappers = _TextRows(rows), _TextRows(rows)
        self._digests = bytearray(_DIGEST * rows)
        self.has_profiles = False
        """Whether a profile judged any result."""
        self.excluded: set[str] = set()
        """Those of the excluded cases that the run has."""
        for row, result in enumerate(run.cases):
            if result.case is not None and result.case in excluded:
                self.excluded.add(result.case)
                continue
            self.has_profiles = self.has_profiles or result.judgement is not None
            if result.case is not None:
                self._numbers[row] = cases.number(result.case)
                self._fill(row, result)

    def _fill(self, row: int, result: CaseResult) -> None:
        self.statuses[row] = _CODES[result.status]
        for score in result.scores:
            metric = self.metrics.get(score.metric)
            if metric:
                metric.fill(row, score)
        if result.judgement:
            self._profiles.fill(row, result.judgement.profile)
        if result.mapper:
            self._mappers.fill(row, result.mapper)
        if result.digest is not None:
            start, digest = row * _DIGEST, blake2b(result.digest.encode(), digest_size=_DIGEST)
            self._digests[start : start + _DIGEST] = digest.digest()

    @cached_property
    def first_rows(self) -> array[int]:
        """The first row of each case, by number; -1 for cases of other runs only. Ask when all
        tables are filled."""
        first = array("i", [_NO_ROW]) * len(self.cases)
        for row, number in enumerate(self._numbers):
            if number >= 0 and first[number] < 0:
                first[number] = row
        return first

    @cached_property
    def _next_rows(self) -> array[int]:
        """The next row of the same case, or -1; empty if no case was repeated, which is the common
        case and needs no list of rows."""
        rows = sum(number >= 0 for number in self._numbers)
        if rows == sum(row >= 0 for row in self.first_rows):
            return array("i")
        last, following = array("i", self.first_rows), array("i", [_NO_ROW]) * len(self._numbers)
        for row, number in enumerate(self._numbers):
            if number >= 0 and last[number] != row:
                following[last[number]] = row
                last[number] = row
        return following

    @property
    def repeated(self) -> bool:
        """Whether any case has several attempts."""
        return bool(self._next_rows)

    def numbers(self) -> array[int]:
        """The cases of the table, in the order of their first results."""
        first = self.first_rows
        return array("i", (n for row, n in enumerate(self._numbers) if n >= 0 and first[n] == row))

    def __contains__(self, number: int) -> bool:
        return self.first_rows[number] >= 0

    def rows(self, number: int) -> Iterator[int]:
        """The rows of a case, one per attempt."""
        row, following = self.first_rows[number], self._next_rows
        while row >= 0:
            yield row
            row = following[row] if following else _NO_ROW

    def attempts(self, number: int) -> int:
        """How many results a case has."""
        return sum(1 for _ in self.rows(number))

    def digest(self, number: int) -> bytes | None:
        """A fingerprint of the question and expectations of a case; `None` if the run has none."""
        start = self.first_rows[number] * _DIGEST
        # Zeros mean that there is none. A case with such a digest, one in 2**64, counts
        # as changed.
        digest = bytes(self._digests[start : start + _DIGEST])
        return digest if any(digest) else None

    def profile(self, number: int) -> str | None:
        """The profile that judged a case."""
        return next((name for row in self.rows(number) if (name := self._profiles[row])), None)

    def mapper(self, number: int) -> str | None:
        """The mapping that read the traces of a case."""
        return next((name for row in self.rows(number) if (name := self._mappers[row])), None)

    def could_not_score(self, metric: str, number: int) -> bool:
        """Whether a metric applies to a case, and none of its attempts has a value."""
        codes = [self.metrics[metric].codes[row] for row in self.rows(number)]
        if any(code & HAS_VALUE for code in codes):
            return False
        return any(code and not code & _NOT_APPLICABLE for code in codes)

    def derive_statuses(self, metrics: Iterable[str]) -> bytearray:
        """The status of each row if only these metrics decided."""
        columns = [self.metrics[name].codes for name in metrics]
        if not columns:
            return bytearray([_derive_status(())]) * len(self._numbers)
        return bytearray(map(_derive_status, zip(*columns, strict=True)))


def status_name(code: int) -> Status:
    """Return the status of a code."""
    return _STATUSES[(code & STATUS) - 1]


@cache  # there are few combinations
def _derive_status(codes: tuple[int, ...]) -> int:
    return _CODES[case_status(_score(code) for code in codes if code)]


def _score(code: int) -> CaseScore:
    return CaseScore(
        metric="",
        status=status_name(code),
        threshold=0.0 if code & _DECIDES else None,
        not_applicable=bool(code & _NOT_APPLICABLE),
    )
