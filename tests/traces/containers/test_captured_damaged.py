"""Files of real programs with wrong values in random places are read or refused, never more."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import cast

import pytest

from carob.errors import CarobError
from carob.schema import Json
from carob.traces.containers.detect import read_items
from carob.traces.reading.json_values import read_values
from tests.traces.containers.test_captured import SAMPLES, TRUTH
from tests.traces.containers.test_hosted_agents import RECORDINGS

WRONG: list[Json] = [None, 1, -1.5, "", "{", [], {}, [1], {"a": 1}, True, [[]], "[1]"]
TRIES = 40
NAMES = [name for name in TRUTH if not name.endswith(".eval")]


def places(value: Json) -> Iterator[tuple[dict[str, Json] | list[Json], str | int]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield value, key
            yield from places(inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield value, index
            yield from places(inner)


def damage(values: list[Json], chance: random.Random) -> list[Json]:
    damaged = copy.deepcopy(values)
    for _ in range(chance.choice((1, 2, 3))):
        holder, key = chance.choice(list(places(damaged)))
        if isinstance(holder, dict) and chance.random() < 0.3:
            del holder[str(key)]
        else:
            cast("dict[str | int, Json]", holder)[key] = copy.deepcopy(chance.choice(WRONG))
    return damaged


def read(values: list[Json]) -> None:
    try:
        for _ in read_items(values, source="f", report=lambda _: None):
            pass
    except CarobError:
        pass


@pytest.mark.parametrize("name", NAMES)
def test_damaged_file_raises_nothing_but_our_errors(name: str):
    chance = random.Random(name)  # noqa: S311 - the same damage every time
    path = SAMPLES / name
    values = [cast("Json", value) for value in read_values(path, report=lambda _: None)]
    for _ in range(TRIES):
        read(damage(values, chance))


@pytest.mark.parametrize("name", RECORDINGS)
def test_damaged_recording_raises_nothing_but_our_errors(name: str):
    chance = random.Random(name)  # noqa: S311 - the same damage every time
    for _ in range(3 * TRIES):
        read(damage(RECORDINGS[name], chance))
