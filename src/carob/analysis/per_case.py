"""Scores and pass rates of a run, one number per case. Repeated attempts are averaged first, so
that a case counts once however often it was repeated."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from operator import sub
from typing import NamedTuple, TypeAlias

from carob.analysis.score_table import FAILED, HAS_VALUE, PASSED, STATUS, ScoreTable
from carob.schema import AttemptCounts, CaseResult, Run

Attempts: TypeAlias = Sequence[CaseResult]
"""The results of one case in one run; more than one if it was repeated."""
_ALL_BYTES = range(256)
_KNOWS_VALUE = bytes(bool(code & HAS_VALUE) for code in _ALL_BYTES)
_KNOWS_VERDICT = bytes(code & STATUS in (PASSED, FAILED) for code in _ALL_BYTES)
_IS_PASSED = bytes(code & STATUS == PASSED for code in _ALL_BYTES)


class Column(NamedTuple):
    """One number per case."""

    values: array[float]
    known: bytes
    """1 for each case with a number. The value of others is 0."""

    @property
    def complete(self) -> bool:
        """Whether every case has a number."""
        return 0 not in self.known

    def known_values(self) -> array[float]:
        """The numbers of the cases that have one."""
        return self.values if self.complete else _select(self.values, self.known)


class ScoreColumns(NamedTuple):
    """The values of one metric, and the share of attempts that passed, per case."""

    values: Column
    passes: Column


class PairedColumns(NamedTuple):
    """Two columns restricted to the cases with a number in both."""

    before: array[float]
    after: array[float]
    differences: array[float]
    """After minus before."""
    aligned: array[float]
    """The same, with 0 for cases without a number in both, so that all metrics line up."""
    lost: tuple[str, ...] = ()
    """Cases with a number only before."""
    gained: tuple[str, ...] = ()
    """Cases with a number only after."""


def attempts_by_case(run: Run) -> Mapping[str, Attempts]:
    """Group results by case. Results without a case are left out. All of them are in memory, so
    statistics over whole runs use `ScoreTable` instead."""
    groups: dict[str, list[CaseResult]] = {}
    for result in run.cases:
        if result.case is not None:
            groups.setdefault(result.case, []).append(result)
    return groups


def score_columns(table: ScoreTable, metric: str, numbers: Sequence[int]) -> ScoreColumns:
    """The scores of a metric, in the order of the cases with these numbers."""
    rows = table.metrics[metric]
    if table.repeated:
        values, codes = rows.values, rows.codes
        means = _means(table, numbers, lambda row: values[row] if codes[row] & HAS_VALUE else None)
        return ScoreColumns(means, pass_rates(table, numbers, codes))
    first = _first_rows(table, numbers)
    values = array("d", map(rows.values.__getitem__, first))
    known = bytes(map(rows.codes.__getitem__, first)).translate(_KNOWS_VALUE)
    return ScoreColumns(Column(values, known), pass_rates(table, numbers, rows.codes))


def pass_rates(
    table: ScoreTable, numbers: Sequence[int], statuses: bytearray | None = None
) -> Column:
    """The share of attempts that passed, of those with a verdict. `statuses` are other ones than
    those of the table."""
    codes = table.statuses if statuses is None else statuses
    if table.repeated:
        verdicts = {PASSED: 1.0, FAILED: 0.0}
        return _means(table, numbers, lambda row: verdicts.get(codes[row] & STATUS))
    by_case = bytes(map(codes.__getitem__, _first_rows(table, numbers)))
    return Column(
        array("d", iter(by_case.translate(_IS_PASSED))), by_case.translate(_KNOWS_VERDICT)
    )


def count_attempts(table: ScoreTable, number: int, statuses: bytearray) -> AttemptCounts:
    """Count the attempts at a case that have a verdict."""
    codes = [statuses[row] & STATUS for row in table.rows(number)]
    passed = codes.count(PASSED)
    return AttemptCounts(passed=passed, total=passed + codes.count(FAILED))


def pair_columns(names: Callable[[int], str], old: Column, new: Column) -> PairedColumns:
    """Pair two columns of the same cases. `names` returns the case at a position."""
    if old.complete and new.complete:  # the common case, and much faster
        return _pair_values(old.values, new.values)
    both = bytes(map(int.__and__, old.known, new.known))
    rows = range(len(both))
    # Joint tests of several metrics flip the signs of the same cases, so their columns line up: a
    # case without both numbers stays, with no difference.
    aligned = array("d", map(sub, new.values, old.values))
    for row in rows:
        if not both[row]:
            aligned[row] = 0.0
    return _pair_values(_select(old.values, both), _select(new.values, both))._replace(
        aligned=aligned,
        lost=tuple(names(row) for row in rows if old.known[row] and not new.known[row]),
        gained=tuple(names(row) for row in rows if new.known[row] and not old.known[row]),
    )


def _pair_values(before: array[float], after: array[float]) -> PairedColumns:
    differences = array("d", map(sub, after, before))
    return PairedColumns(before, after, differences, differences)


def _select(values: array[float], known: bytes) -> array[float]:
    return array("d", (value for value, has in zip(values, known, strict=True) if has))


def _first_rows(table: ScoreTable, numbers: Iterable[int]) -> array[int]:
    return array("i", map(table.first_rows.__getitem__, numbers))


def _means(
    table: ScoreTable, numbers: Sequence[int], value: Callable[[int], float | None]
) -> Column:
    means, known = array("d", bytes(8 * len(numbers))), bytearray(len(numbers))
    for index, number in enumerate(numbers):
        values = [v for v in map(value, table.rows(number)) if v is not None]
        if values:
            means[index], known[index] = fsum(values) / len(values), 1
    return Column(means, bytes(known))
