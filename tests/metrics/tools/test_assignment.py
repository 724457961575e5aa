from __future__ import annotations

from itertools import combinations, permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from carob.metrics.tools.assignment import align, assign

CREDITS = st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0])
TABLES = st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
    lambda size: st.lists(
        st.lists(CREDITS, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


def worth(table: list[list[float]], pairs: list[tuple[int, int]]) -> float:
    return sum(table[row][column] for row, column in pairs)


def every_pairing(table: list[list[float]]):
    rows, columns = range(len(table)), range(len(table[0]))
    for size in range(min(len(rows), len(columns)) + 1):
        for some in combinations(rows, size):
            for others in permutations(columns, size):
                yield list(zip(some, others, strict=True))


@given(TABLES)
@settings(deadline=None)
def test_no_pairing_has_more_credit(table: list[list[float]]):
    best = max(worth(table, pairs) for pairs in every_pairing(table))
    assert abs(worth(table, assign(table)) - best) < 1e-9


@given(TABLES)
@settings(deadline=None)
def test_no_row_and_no_column_is_paired_twice(table: list[list[float]]):
    pairs = assign(table)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)


@given(TABLES)
@settings(deadline=None)
def test_no_ordered_pairing_has_more_credit(table: list[list[float]]):
    ordered = [
        pairs for pairs in every_pairing(table) if pairs == sorted(pairs, key=lambda p: p[1])
    ]
    best = max(worth(table, pairs) for pairs in ordered)
    pairing = align(table)
    assert pairing == sorted(pairing, key=lambda pair: pair[1])
    assert abs(worth(table, pairing) - best) < 1e-9


def test_row_that_was_paired_first_gives_way_twice():
    table = [[1.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.5, 1.0, 0.5]]
    assert assign(table) == [(0, 2), (1, 0), (2, 1)]


def test_greedy_choice_does_not_win():
    assert assign([[1.0, 0.9], [0.9, 0.0]]) == [(0, 1), (1, 0)]


def test_pairs_without_credit_are_left_out():
    assert assign([[0.0, 0.0]]) == []
    assert align([[0.0, 0.0], [0.0, 0.5]]) == [(1, 1)]
    assert assign([]) == align([]) == []
