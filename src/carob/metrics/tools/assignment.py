"""Pairings of rows and columns with the highest total credit."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TypeAlias

Credits: TypeAlias = Sequence[Sequence[float]]
"""The credit of each row paired with each column, from 0 to 1."""


def assign(credit: Credits) -> list[tuple[int, int]]:
    """Return the best pairing in any order: (row, column) pairs with credit, sorted by row.

    The Hungarian method with potentials: rows are added one by one, each along the cheapest
    augmenting path. O(rows² · columns), so the shorter side becomes the rows.
    """
    if not credit or not credit[0]:
        return []
    if len(credit) > len(credit[0]):
        transposed = list(zip(*credit, strict=True))
        return sorted((row, column) for column, row in assign(transposed))
    owners = _owners(credit)
    pairs = [(row, column) for column, row in enumerate(owners) if row is not None]
    return sorted((row, column) for row, column in pairs if credit[row][column] > 0)


def align(credit: Credits) -> list[tuple[int, int]]:
    """Return the best pairing that keeps the order of both sides."""
    rows, columns = len(credit), len(credit[0]) if credit else 0
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = credit[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    return _trace_pairs(credit, best)


def _trace_pairs(credit: Credits, best: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < len(credit) and column < len(credit[0]):
        paired = credit[row][column]
        if paired > 0 and best[row][column] == paired + best[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _owners(credit: Credits) -> list[int | None]:
    """Return the row assigned to each column."""
    columns = len(credit[0])
    owners: list[int | None] = [None] * columns
    row_potential, column_potential = [0.0] * len(credit), [0.0] * columns
    for row in range(len(credit)):
        came_from, column = _augmenting_path(credit, row, owners, row_potential, column_potential)
        while column is not None:
            previous = came_from[column]
            owners[column] = row if previous is None else owners[previous]
            column = previous
    return owners


def _augmenting_path(
    credit: Credits,
    row: int,
    owners: list[int | None],
    row_potential: list[float],
    column_potential: list[float],
) -> tuple[list[int | None], int | None]:
    """Find the path to the nearest free column: the column before each, and the last column.

    Adjusts the potentials.
    """
    columns = range(len(owners))
    slack = [inf] * len(owners)
    came_from: list[int | None] = [None] * len(owners)
    done = [False] * len(owners)
    here: int | None = None
    at: int | None = row
    while at is not None:
        if here is not None:
            done[here] = True
        for column in columns:
            cost = -credit[at][column] - row_potential[at] - column_potential[column]
            if not done[column] and cost < slack[column]:
                slack[column], came_from[column] = cost, here
        nearest = min((column for column in columns if not done[column]), key=slack.__getitem__)
        step = slack[nearest]
        row_potential[row] += step
        for column in columns:
            owner = owners[column]
            if done[column] and owner is not None:
                row_potential[owner] += step
                column_potential[column] -= step
            elif not done[column]:
                slack[column] -= step
        here, at = nearest, owners[nearest]
    return came_from, here
