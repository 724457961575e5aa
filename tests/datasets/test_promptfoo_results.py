"""Carob renders prompts and decides assertions as promptfoo does.

`promptfoo/results.json` is what promptfoo 0.123.1 wrote for the configuration beside it, reduced to
prompts, outputs and verdicts. It is stored because promptfoo and its packages take half a gigabyte.
To record it again: `npx promptfoo eval -c promptfooconfig.yaml -o results.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import read_dataset
from carob.metrics.metric import evaluate
from carob.metrics.text.assertions import Assertions
from carob.metrics.text.matching import Contains
from carob.schema import Case, Score, Trace, Turn

FOLDER = Path(__file__).parent / "promptfoo"
ROWS: list[dict[str, Any]] = json.loads((FOLDER / "results.json").read_text())["rows"]


@pytest.fixture(scope="module")
def cases(formats: list[Format]) -> list[Case]:
    return list(read_dataset(FOLDER / "promptfooconfig.yaml", formats).cases)


def passes(case: Case, output: str) -> bool:
    """Whether every metric that the case asks for passes."""
    trace = Trace(id="t", turns=(Turn(user=case.turns[0].user, response=output),))
    outcomes = [evaluate(metric, case, trace) for metric in (Assertions(), Contains())]
    return all(outcome.value == 1.0 for outcome in outcomes if isinstance(outcome, Score))


@pytest.mark.parametrize("index", range(len(ROWS)))
def test_prompts_metadata_and_verdicts_are_those_of_promptfoo(index: int, cases: list[Case]):
    row, case = ROWS[index], cases[index]
    assert case.turns[0].user == row["prompt"]
    assert case.metadata["team"] == row["metadata"]["team"]
    assert passes(case, row["output"]) == row["passed"]


def test_every_kind_of_verdict_is_compared(cases: list[Case]):
    assert {row["passed"] for row in ROWS} == {True, False}
    assert len(cases) == len(ROWS)
    failed = [text for row in ROWS for text in row["assertions"] if text.endswith("failed")]
    assert len(failed) == 8
