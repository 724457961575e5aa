from __future__ import annotations

import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carob.api import datasets, versions
from carob.api.load import load
from carob.datasets.formats import Format
from carob.datasets.reformat import reformat_like
from carob.errors import OutputError
from carob.schema import Case, Dataset, ToolCall, Turn

SAMPLES = Path(__file__).parents[1] / "samples"
NAMES = {
    "adk": "x.evalset.json",
    "questions": "x_golden.json",
    "examples": "x.json",
    "csv": "x.csv",
    "explain": "x.jsonl",
    "simulation": "x.simulation.csv",
}
FILES = [
    path
    for name in [*NAMES, "test", "adk-history"]
    for path in sorted((SAMPLES / name).glob("*"))
    if path.name != "empty.json"
]


def convert(source: Path, target: Path, to: str, drop: bool) -> None:
    """Convert; if the format can hold no case at all, there is nothing to compare."""
    try:
        datasets.convert(source, target, to=to, drop=drop)
    except OutputError:
        shutil.copyfile(source, target)


@pytest.mark.parametrize("drop", [False, True], ids=["preserved", "dropped"])
@pytest.mark.parametrize("to", NAMES)
@pytest.mark.parametrize("sample", FILES, ids=lambda path: path.name)
def test_conversion_makes_no_difference(sample: Path, to: str, drop: bool, tmp_path: Path):
    converted = tmp_path / NAMES[to]
    convert(sample, converted, to, drop)
    assert versions.diff(sample, converted).changes == ()


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
questions: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {
        "user_inputs": st.lists(texts, min_size=1, max_size=3),
        "agents_evaluated": st.lists(texts, max_size=2),
        "reference_data": st.fixed_dictionaries(
            dict[str, Any](),
            optional={
                "reference_trajectory": st.lists(texts, max_size=2),
                "reference_response": texts,
                "expected_state": st.dictionaries(texts, texts, max_size=2),
            },
        ),
        "metadata": st.dictionaries(texts.filter(lambda key: key != "carob"), texts, max_size=2),
    }
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(questions, min_size=1, max_size=3), st.sampled_from(list(NAMES)), st.booleans())
def test_converting_any_dataset_makes_no_difference(generated: list[Any], to: str, drop: bool):
    with TemporaryDirectory() as folder:
        path, target = Path(folder) / "a_golden.json", Path(folder) / NAMES[to]
        items = [{"id": f"case {number}", **question} for number, question in enumerate(generated)]
        path.write_text(json.dumps({"golden_questions": items}))
        convert(path, target, to, drop)
        assert versions.diff(path, target).changes == ()


def test_fields_without_an_equivalent_in_the_other_format_are_losses(
    formats: list[Format], tmp_path: Path
):
    table = tmp_path / "support.csv"
    table.write_text("Input,ExpectedOutput\nOpen?,Yes.\n")
    turn = Turn(user="Open?", response="Yes.", tool_calls=(ToolCall(name="hours"),))
    old = Dataset(name="support", cases=[Case(id="hours", turns=(turn,))])
    reformatted = reformat_like(old, load(table), formats)
    assert {"id", "turns[0].tool_calls"} <= {loss.field for loss in reformatted.losses}
    assert reformatted.dataset.cases[0].turns[0].tool_calls is None


def test_dataset_of_the_same_format_is_unchanged(formats: list[Format], tmp_path: Path):
    table = tmp_path / "support.csv"
    table.write_text("Input,ExpectedOutput\nOpen?,Yes.\n")
    dataset = load(table)
    assert reformat_like(dataset, dataset, formats).dataset is dataset


def test_expectation_that_only_the_new_format_can_state_is_a_change(tmp_path: Path):
    old, new = tmp_path / "support.csv", tmp_path / "support_golden.json"
    old.write_text("Input,ExpectedOutput\nOpen?,Yes.\n")
    datasets.convert(old, new, to="questions", drop=True)
    document = json.loads(new.read_text())
    document["golden_questions"][0]["reference_data"]["reference_trajectory"] = ["front_desk"]
    new.write_text(json.dumps(document))
    assert [(change.field, change.kind) for change in versions.diff(old, new).changes] == [
        ("trajectory", "added")
    ]
