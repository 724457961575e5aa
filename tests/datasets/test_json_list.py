from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from carob import plugins
from carob.api.datasets import case_lines, convert, subset, validate
from carob.api.lint import lint
from carob.api.load import load
from carob.datasets.json_list import JsonList, split_list
from carob.datasets.read import open_golden
from carob.datasets.source import open_source
from carob.errors import CarobError

SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture
def split_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split every document, as if it were large, and read it in small blocks."""
    monkeypatch.setattr("carob.datasets.source.SPLIT_FROM", 1)
    monkeypatch.setattr("carob.datasets.json_list.LONG", 1)
    monkeypatch.setattr("carob.datasets.json_list._BLOCK", 7)


def split(text: str) -> JsonList | None:
    return split_list(io.BufferedReader(io.BytesIO(text.encode())))


LAYOUTS = [
    '{"a": 1, "cases": [{"id": "x"}, [1, "]"], 3, -4.5e3, null, "two"], "b": {"c": [5]}}',
    '{"cases":\n  [ {"id": "x"},\n\n {"id": "y, }"} ] , "é": "ü" }',
    '[{"id": "x"}, {"id": "y"}]\n\n',
    ' \n{"cases": [1,2,3]}',
]


@pytest.mark.usefixtures("split_early")
@pytest.mark.parametrize("text", LAYOUTS)
def test_items_are_those_of_the_whole_document(text: str):
    listed = split(text)
    assert listed is not None
    whole = json.loads(text)
    items = whole if listed.key is None else whole.pop(listed.key)
    assert [json.loads(item) for item in listed.items] == items
    sample, frame = listed.document, json.loads(listed.frame)
    if isinstance(sample, dict):
        assert frame.pop(listed.key) == []
        assert frame == whole
        sample = sample[listed.key or ""]
    assert isinstance(sample, list)
    assert sample == items[: len(sample)]


@pytest.mark.usefixtures("split_early")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '"text"',
        '{"cases": [1, 2,]}',
        '{"cases": [1 2]}',
        '{"cases": [1, 2]',
        '{"cases": [1, 2]} more',
        '{"cases": [1, tru]}',
        '{"cases": ["\\ud83d"]}',
        '{"cases": [1], "cases": [2]}',
        '{"a": [[1], 2], "b": [[3], 4]}',
    ],
)
def test_other_layouts_and_invalid_documents_are_left_to_the_decoder(text: str):
    assert split(text) is None


@pytest.mark.usefixtures("split_early")
def test_lines_are_those_of_the_file():
    text = '{\n "a": 1,\n "cases": [\n  {"id": "x"},\n  {\n   "id": "y"\n  }\n ],\n "b":\n 2\n}\n'
    listed = split(text)
    assert listed is not None
    paths = ["$.a", "$.cases", "$.cases[0].id", "$.cases[1]", "$.cases[1].id", "$.b", "$"]
    assert [listed.find_lines(paths)[path] for path in paths] == [2, 3, 4, 5, 6, 9, 1]


def document_samples() -> list[Path]:
    files = [path for path in sorted(SAMPLES.rglob("*.json")) if "traces" not in path.parts]
    return [path for path in files if not path.name.endswith(".carob.json")]


@pytest.mark.parametrize("path", document_samples(), ids=lambda path: path.name)
def test_a_split_document_reads_like_a_whole_one(path: Path, request: pytest.FixtureRequest):
    expected = outcomes(path)
    request.getfixturevalue("split_early")
    assert outcomes(path) == expected


def outcomes(path: Path) -> list[object]:
    """What every reader of golden files makes of one."""
    results: list[object] = []
    for read in (load, validate, case_lines, lint):
        try:
            results.append(read(path))
        except CarobError as error:
            results.append((str(error), error.hint))
    return results


@pytest.mark.usefixtures("split_early")
def test_an_unchanged_document_keeps_its_bytes(tmp_path: Path):
    source = tmp_path / "cases.json"
    cases = [{"eval_id": f"case-{n}", "n": 1.50} for n in range(5)]
    source.write_text(json.dumps({"eval_set_id": "s", "eval_cases": cases}, indent=2) + "\n")
    opened = open_golden(source, plugins.formats())
    assert opened.source.listed is not None
    convert(source, tmp_path / "copy.json", to="adk")
    assert (tmp_path / "copy.json").read_text() == source.read_text()


@pytest.mark.usefixtures("split_early")
def test_compressed_documents_are_split_too(tmp_path: Path):
    source = tmp_path / "cases.json.gz"
    cases = [{"input": f"Question {n}?", "expected_output": "Yes."} for n in range(5)]
    source.write_bytes(gzip.compress(json.dumps({"name": "n", "examples": cases}).encode()))
    assert open_golden(source, plugins.formats()).source.listed is not None
    assert len(load(source)) == 5
    subset(source, tmp_path / "part.json", limit=2)
    assert len(load(tmp_path / "part.json")) == 2


def test_a_document_on_one_line_is_not_taken_for_rows(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text('\n \n{"a": 1}\n\n')
    assert open_source(path).container == "document"
    path.write_text('\n{"a": 1}\n\n{"a": 2}')
    assert open_source(path).container == "rows"
