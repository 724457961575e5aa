from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.datasets import convert
from carob.api.load import load
from carob.api.versions import mark_reviewed
from carob.datasets.formats.csv import CsvFormat
from carob.datasets.formats.examples import ExamplesFormat
from carob.schema import Json, content_id


@pytest.mark.parametrize("version", ["1.0", "v1.0.0", "01.0.0", "1.0.0-", ""])
def test_version_that_is_not_semantic_is_a_warning(version: str):
    (problem,) = ExamplesFormat().check_frame({"name": "x", "version": version}, Path())
    assert (problem.where, problem.severity) == ("$.version", "warning")


@pytest.mark.parametrize("version", ["1.0.0", "0.1.0-rc.1", "2.10.3+build.7"])
def test_semantic_version_is_fine(version: str):
    assert not list(ExamplesFormat().check_frame({"name": "x", "version": version}, Path()))


def test_time_that_is_not_iso_is_an_error():
    (problem,) = ExamplesFormat().check_frame({"name": "x", "createdAt": "yesterday"}, Path())
    assert (problem.where, problem.severity) == ("$.createdAt", "error")


def test_empty_texts_are_errors():
    problems = list(ExamplesFormat().check({"input": " ", "expectedOutput": ""}))
    assert [problem.where for problem in problems] == ["$.input", "$.expectedOutput"]


def test_id_follows_from_the_input_alone():
    lens = ExamplesFormat().cases("document")
    first = lens.get({"input": "a", "expectedOutput": "b"})
    assert lens.get({"input": "a", "expectedOutput": "corrected"}).id == first.id


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ({"id": "opening_hours"}, "opening_hours"),
        ({"Id": 12}, "12"),
        ({"id": " "}, None),
        ({"id": True}, None),
        ({"id": ["a"]}, None),
    ],
)
def test_id_that_an_example_states_is_the_id_of_its_case(
    stated: dict[str, Json], expected: str | None
):
    example: Json = {"input": "Hi", "expectedOutput": "Hello", **stated}
    case = ExamplesFormat().cases("document").get(example)
    assert case.id == (expected or content_id("Hi"))


def test_id_in_a_column_is_the_id_of_its_case():
    row: Json = {"ID": "12", "Input": "Hi", "ExpectedOutput": "Hello"}
    assert CsvFormat().cases("table").get(row).id == "12"


@pytest.mark.parametrize("target", ["adk", "csv", "questions"])
def test_stated_ids_survive_other_formats_and_changes(tmp_path: Path, target: str):
    source, other, back = (tmp_path / name for name in ("a.json", "b.data", "c.json"))
    source.write_text(
        '[\n  {\n    "id": "hours",\n    "input": "Hi",\n    "expectedOutput": "Hello"\n  }\n]\n'
    )
    convert(source, other, to=target)
    assert [case.id for case in load(other).cases] == ["hours"]
    convert(other, back, to="examples")
    assert back.read_bytes() == source.read_bytes()
    mark_reviewed(source, ["hours"], status="approved", by="Lena Ortiz")
    (case,) = load(source).cases
    assert (case.id, case.metadata["review_status"]) == ("hours", "approved")
