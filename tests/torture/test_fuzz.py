from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.torture.fuzz import fuzz
from tests.torture.mutate import mutate


def test_no_hostile_input_leads_to_a_traceback_or_a_hang(tmp_path: Path):
    tally = fuzz(8, tmp_path, seed=1)
    assert tally.findings == []
    assert tally.total > 50


@pytest.mark.parametrize(
    "text", ['{"a": [1, "b"]}', '{"a": 1}\n{"a": 2}\n', "a,b\n1,2\n", "", "x = 1"]
)
def test_mutations_are_repeatable_and_never_fail(text: str):
    for seed in range(200):
        first, second = (mutate(text.encode(), b'{"c": null}', Random(seed)) for _ in range(2))  # noqa: S311 - repeatable
        assert first == second
