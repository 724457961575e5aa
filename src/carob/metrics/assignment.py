"""Who is paired with whom so that the sum of credits is as large as it can be."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TypeAlias

Credits: TypeAlias = Sequence[Sequence[float]]
"""Row by row: what pairing this row with each column is worth, from 0 to 1."""


def assign(worth: Credits) -> list[tuple[int, int]]:
    """The best pairing in any order: (row, column) pairs that are worth something, by row.

    The Hungarian method with potentials: rows enter one by one, each along the cheapest
    augmenting path. O(rows² · columns) with rows as the shorter side.
    """
    if not worth or not worth[0]:
        return []
    if len(worth) > len(worth[0]):
        turned = list(zip(*worth, strict=True))
        return sorted((row, column) for column, row in assign(turned))
    owners = _owners(worth)
    found = [(row, column) for column, row in enumerate(owners) if row is not None]
    return sorted((row, column) for row, column in found if worth[row][column] > 0)


def align(worth: Credits) -> list[tuple[int, int]]:
    """The best pairing that keeps the order of both sides."""
    rows, columns = len(worth), len(worth[0]) if worth else 0
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            paired = worth[row][column] + best[row + 1][column + 1]
            best[row][column] = max(paired, best[row + 1][column], best[row][column + 1])
    return _walk(worth, best)


def _walk(worth: Credits, best: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    row = column = 0
    while row < len(worth) and column < len(worth[0]):
        paired = worth[row][column]
        if paired > 0 and best[row][column] == paired + best[row + 1][column + 1]:
            found.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return found


def _owners(worth: Credits) -> list[int | None]:
    """For each column the row that has it."""
    columns = len(worth[0])
    owners: list[int | None] = [None] * columns
    of_row, of_column = [0.0] * len(worth), [0.0] * columns
    for row in range(len(worth)):
        came_from, column = _path(worth, row, owners, of_row, of_column)
        while column is not None:
            before = came_from[column]
            owners[column] = row if before is None else owners[before]
            column = before
    return owners


def _path(
    worth: Credits,
    row: int,
    owners: list[int | None],
    of_row: list[float],
    of_column: list[float],
) -> tuple[list[int | None], int | None]:
    """The way to the nearest free column, as the column before each; adjusts the potentials."""
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
            cost = -worth[at][column] - of_row[at] - of_column[column]
            if not done[column] and cost < slack[column]:
                slack[column], came_from[column] = cost, here
        nearest = min((column for column in columns if not done[column]), key=slack.__getitem__)
        step = slack[nearest]
        of_row[row] += step
        for column in columns:
            owner = owners[column]
            if done[column] and owner is not None:
                of_row[owner] += step
                of_column[column] -= step
            elif not done[column]:
                slack[column] -= step
        here, at = nearest, owners[nearest]
    return came_from, here
