"""Time of the near-duplicate rule, and of all other rules of `carob lint`."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import accumulate, product
from pathlib import Path

from bench.data import FOLDER
from bench.measure import CAROB, OURS, race, reported
from bench.row import Number, Row, at_most

_CASES = 100_000
_NEAR = """
import sys, time, carob
from carob.datasets.lint.near_duplicates import comparable_input, near_pairs
from carob.datasets.source import collector_paused
cases = carob.load(sys.argv[1]).cases
start = time.perf_counter()
with collector_paused():
    found = sum(1 for _ in near_pairs([comparable_input(case) for case in cases]))
print(time.perf_counter() - start)
assert found >= len(cases) // 100, found
"""


def measure() -> Iterator[Row]:
    """One case in a hundred is a near duplicate. The limit is a minute on one core."""
    file = _examples()
    minute = Number(name="limit", value=60, unit="s")
    near = reported({"carob": [OURS, "-c", _NEAR, file]}, repeats=2)["carob"]
    yield at_most(
        f"Linting {_CASES:,} cases: near duplicates, one core",
        Number(name="`near_pairs`", value=near, unit="s"),
        minute,
        target=1,
    )
    command = [CAROB, "lint", file, "--ignore", "near-duplicate", "-o", file.with_suffix(".txt")]
    whole = race({"carob": command}, repeats=1)["carob"]
    yield at_most(
        f"Linting {_CASES:,} cases: all other rules",
        Number(name="`carob lint --ignore near-duplicate`", value=whole, unit="s"),
        minute,
        target=1,
    )


def _examples() -> Path:
    """Questions with a natural word distribution; every hundredth is a near duplicate."""
    path = FOLDER / f"questions-{_CASES}.json"
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        rng = random.Random(4)  # noqa: S311 - not a secret
        examples = [_example(question) for question in _questions(rng)]
        path.write_text(json.dumps({"name": "large", "examples": examples}))
    return path


def _questions(rng: random.Random) -> Iterator[str]:
    syllables = [
        "".join(pair) for pair in product("bcdfghjklmnprstvw", ("a", "en", "i", "or", "u"))
    ]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(20_000)]
    weights = [*accumulate(1 / rank for rank in range(1, len(words) + 1))]
    kept: list[str] = []
    for number in range(_CASES):
        if number % 100 == 99:
            kept[-1] += "s"
        else:
            kept = rng.choices(words, cum_weights=weights, k=rng.randint(6, 24))
        yield " ".join(kept) + "?"


def _example(question: str) -> dict[str, object]:
    return {
        "input": question,
        "expectedOutput": f"Yes, as for {question[:60]}",
        "context": f"It is written that {question[:-1]}, and more of it in the handbook.",
        "tags": ["happy-path"],
    }
