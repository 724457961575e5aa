"""Carob reads the formats of other tools as these tools do, and they load what Carob writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import get_format, read_dataset
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset
from carob.schema import Case

SAMPLES = Path(__file__).parents[1] / "samples"
TOOLS = ("deepeval", "inspect", "pydantic-evals")
Oracle = Callable[[object], dict[str, Any]]


EXPORTS = ("exported.json",)
"""Files in camelCase, as DeepEval's platform exports them and its loader does not read them."""


def samples() -> list[Path]:
    paths = [path for tool in TOOLS for path in sorted((SAMPLES / tool).iterdir())]
    return [path for path in paths if path.name not in EXPORTS]


def sample_id(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


@pytest.mark.parametrize("sample", samples(), ids=sample_id)
def test_original_tool_reads_the_same_cases(sample: Path, original: Oracle, formats: list[Format]):
    rows = original([sample.parent.name, str(sample)])["rows"]
    cases = read_dataset(sample, formats).cases
    assert len(rows) == len(cases)
    for row, case in zip(rows, cases, strict=True):
        assert_same(row, case)


def assert_same(row: dict[str, Any], case: Case) -> None:
    last = case.turns[-1] if case.turns else None
    outcomes = [rubric.text for rubric in case.rubrics if rubric.id == "expected_outcome"]
    assert message_of(row["input"]) == (last.user if last else case.scenario and case.scenario.plan)
    # Several accepted answers are a reference, because none of them is the expected one.
    if not isinstance(row["expected"], list):
        expected = text_of(row["expected"], "answer") if row["expected"] else None
        assert expected == (last.response if last else next(iter(outcomes), None))
    if "context" in row:
        assert case.context == ("\n\n".join(row["context"]) if row["context"] else None)
        calls = last.tool_calls if last else None
        assert row["tools"] == [call.name for call in calls or ()]
        recorded = case.recorded.turns[-1].response if case.recorded else None
        assert (row["recorded"] or None) == recorded
    if row.get("id"):
        assert str(row["id"]) == case.id
    if "rubrics" in row:
        assert row["rubrics"] == [rubric.text for rubric in case.rubrics]


def message_of(value: Any) -> str:
    """The user message in what a tool calls the input."""
    if isinstance(value, list):
        messages = cast("list[dict[str, str]]", value)
        return next(message["text"] for message in messages if message["role"] == "user")
    return text_of(value, "question")


def text_of(value: Any, key: str) -> str:
    """A text, the text under a common name of an object, or any other value as JSON."""
    if isinstance(value, dict) and key in value:
        return str(cast("dict[str, Any]", value)[key])
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "source", ["adk/returns.json", "examples/support.json", "agents-cli/turns.json"]
)
def test_original_tool_loads_what_is_written(
    source: str, tool: str, original: Oracle, formats: list[Format], tmp_path: Path
):
    dataset = read_dataset(SAMPLES / source, formats)
    form = get_format(tool, formats)
    for suffix in (".json", ".csv") if "table" in form.containers else (".json",):
        path = tmp_path / f"golden{suffix}"
        prepared = prepare_dataset(dataset, choose_destination(path, form, dataset), formats)
        if not prepared.cases:
            continue  # Inspect requires an answer, and these cases expect none
        write_dataset(prepared, carry=False)
        answer = original([tool, str(path)])
        assert "error" not in answer, answer
        written = list(read_dataset(path, formats, tool).cases)
        assert len(answer["rows"]) == len(written) == len(prepared.cases)
        for row, case in zip(answer["rows"], written, strict=True):
            assert_same(row, case)
