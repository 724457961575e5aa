"""Files that the real programs wrote when they were run against a model that follows a script.

`truth.json` says what happened, from the script and from the token counts that the model served.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from carob.schema import Problem, Trace, Turn
from carob.traces.read import read_traces
from carob.traces.shape import to_text

SAMPLES = Path(__file__).parents[2] / "samples" / "traces" / "captured"
TRUTH: dict[str, dict[str, Any]] = json.loads((SAMPLES / "truth.json").read_bytes())


def read(name: str) -> Trace:
    if name.endswith(".eval") and sys.version_info < (3, 14):  # compressed with Zstandard
        pytest.importorskip("zstandard")
    problems: list[Problem] = []
    (trace,) = read_traces([SAMPLES / name], report=problems.append)
    assert problems == []
    return trace


def test_every_file_has_a_truth():
    assert {path.name for path in SAMPLES.iterdir()} == {*TRUTH, "truth.json"}


@pytest.mark.parametrize("name", TRUTH)
def test_turns_are_what_happened(name: str):
    turns = read(name).turns
    expected = TRUTH[name]["turns"]
    assert [(turn.user, turn.response) for turn in turns] == [
        (turn["user"], turn["response"]) for turn in expected
    ]
    for turn, truth in zip(turns, expected, strict=True):
        check_tools(turn, truth)


def check_tools(turn: Turn, truth: dict[str, Any]) -> None:
    calls = turn.tool_calls
    assert [[call.name, call.args] for call in calls or ()] == (truth["calls"] or [])
    assert (calls is None) == (truth["calls"] is None)
    results = [[item.name, item.error is not None] for item in turn.tool_results]
    assert results == [[name, failed] for name, _, failed in truth["results"]]
    for item, (_, text, _) in zip(turn.tool_results, truth["results"], strict=True):
        shown = item.result if isinstance(item.result, str) else to_text(item.result)
        assert text in shown


@pytest.mark.parametrize("name", TRUTH)
def test_tokens_models_and_agents_are_those_of_the_run(name: str):
    trace, truth = read(name), TRUTH[name]
    usage = trace.usage
    assert [usage.input_tokens, usage.output_tokens, usage.cached_tokens] == truth["usage"]
    assert ([*trace.models], [*trace.agents]) == (truth["models"], truth["agents"])
