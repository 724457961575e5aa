from __future__ import annotations

import json
from pathlib import Path

import pytest

from carob.api.datasets import case_lines, convert, save, summarise_files, validate
from carob.api.load import load
from carob.errors import UsageError
from carob.schema import Case, Dataset


def test_cases_of_a_document_are_where_their_objects_start(tmp_path: Path):
    path = tmp_path / "gold.json"
    path.write_text(
        '{"golden_questions": [\n'
        '  {"id": "a", "user_inputs": ["Hi"], "agents_evaluated": [], "reference_data": {}},\n'
        "\n"
        '  {\n    "id": "b", "user_inputs": ["Ho"], "agents_evaluated": [], "reference_data": {}}\n'
        "]}\n",
        "utf-8",
    )
    assert case_lines(path) == {"a": (str(path), 2), "b": (str(path), 4)}


def test_cases_of_a_table_are_where_their_rows_start(tmp_path: Path):
    path = tmp_path / "gold.csv"
    path.write_text('Input,ExpectedOutput\n"two\nlines",x\nHo,y\n', "utf-8")
    assert [line for _, line in case_lines(path).values()] == [2, 4]


def test_cases_of_json_lines_are_in_their_lines(tmp_path: Path):
    path = tmp_path / "gold.jsonl"
    row = '{{"case_id": "{0}", "question": "Hi", "reference_answer": "x", "model_answer": "x"}}\n'
    path.write_text(row.format("a") + "\n" + row.format("b"), "utf-8")
    assert case_lines(path) == {"a": (str(path), 1), "b": (str(path), 3)}


EXAMPLES = [{"input": "Hi", "expectedOutput": "Hello"}, {"input": "Bye", "expectedOutput": "Bye"}]


def test_cases_of_yaml_and_of_a_list_are_where_they_start(tmp_path: Path):
    yaml, rows = tmp_path / "a.yaml", tmp_path / "b.json"
    yaml.write_text("name: a\nexamples:\n  - input: Hi\n    expectedOutput: x\n  - input: Ho\n")
    rows.write_text(json.dumps(EXAMPLES, indent=1))
    assert [line for _, line in case_lines(yaml).values()] == [3, 5]
    assert [line for _, line in case_lines(rows).values()] == [2, 6]


def test_converting_a_list_to_its_own_format_makes_a_plain_document(tmp_path: Path):
    path, document = tmp_path / "list.json", tmp_path / "new.json"
    path.write_text(json.dumps(EXAMPLES))
    assert convert(path, document, to="examples").losses == ()
    assert json.loads(document.read_text()) == {"name": "list", "examples": EXAMPLES}


def test_a_list_stays_a_list_when_it_is_saved(tmp_path: Path):
    path, copy = tmp_path / "list.json", tmp_path / "copy.json"
    path.write_text(json.dumps(EXAMPLES))
    save(load(path).subset(lambda case: case.turns[0].user == "Hi"), copy)
    assert json.loads(copy.read_text()) == EXAMPLES[:1]


def test_suffix_chooses_the_container(tmp_path: Path):
    dataset = load(_write(tmp_path / "list.json", EXAMPLES))
    save(dataset, tmp_path / "rows.jsonl")
    assert (tmp_path / "rows.jsonl").read_text().splitlines()[1] == (
        '{"input":"Bye","expectedOutput":"Bye"}'
    )
    save(dataset, tmp_path / "a.yaml")
    assert (tmp_path / "a.yaml").read_text().startswith("- input: Hi\n  expectedOutput: Hello\n")
    with pytest.raises(UsageError, match="csv cannot be written as YAML") as caught:
        save(dataset, tmp_path / "b.yaml", format="csv")
    assert caught.value.hint == "write b.csv"


def test_conversion_notes_comments_that_are_not_kept(tmp_path: Path):
    path = tmp_path / "a.yaml"
    path.write_text("# ours\nname: a  # short\nexamples:\n- {input: '#1', expectedOutput: x}\n")
    conversion = convert(path, tmp_path / "a.json", to="examples")
    assert conversion.notes == ("2 comments of the YAML file, not kept when the data is written",)


def test_version_has_a_default_that_is_not_written(tmp_path: Path):
    document = {"name": "FAQ", "examples": EXAMPLES}
    path = _write(tmp_path / "faq.json", document)
    dataset = load(path)
    assert dataset.version == "1.0.0"
    save(dataset, tmp_path / "copy.json")
    assert json.loads((tmp_path / "copy.json").read_text()) == document
    losses = convert(path, tmp_path / "faq.csv", to="csv").losses
    assert [loss.field for loss in losses] == ["name"]
    convert(tmp_path / "faq.csv", tmp_path / "back.json", to="examples")
    assert json.loads((tmp_path / "back.json").read_text()) == document


def test_new_dataset_gets_a_version_and_the_current_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")
    dataset = Dataset(name="FAQ", cases=[Case.of("Hi", "Hello")])
    save(dataset, tmp_path / "new" / "faq.json")
    written = load(tmp_path / "new" / "faq.json")
    assert (written.version, written.created_at) == ("1.0.0", "2026-05-28T20:26:40Z")
    save(dataset, tmp_path / "faq_golden.json", format="questions")
    assert "2026" not in (tmp_path / "faq_golden.json").read_text()


def _write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


class Steps:
    """Progress that was reported."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.totals: list[int] = []

    def add(self, done: int, total: int) -> None:
        self.done.append(done)
        self.totals.append(total)


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "list.json"])
def test_progress_grows_with_the_bytes_of_all_files(tmp_path: Path, name: str):
    dataset = Dataset(name="shop", cases=[Case.of(f"Question {n}?", "Yes.") for n in range(50)])
    form = {"a.jsonl": "explain", "a.csv": "csv", "list.json": "explain"}.get(name, "examples")
    files = [tmp_path / name, tmp_path / f"more-{name}"]
    for file in files:
        save(dataset, file, format=form)
    total = sum(file.stat().st_size for file in files)
    for call in (validate, summarise_files):
        steps = Steps()
        call(files, progress=steps.add)
        assert {*steps.totals} == {total}
        assert steps.done == sorted(steps.done)
        assert steps.done[-1] > 0.9 * total


def test_conversion_reports_what_is_read_and_what_is_converted(tmp_path: Path):
    save(
        Dataset(name="shop", cases=[Case.of("Open?", "Yes."), Case.of("Now?", "No.")]),
        tmp_path / "a.json",
    )
    reading, converting = Steps(), Steps()
    convert(
        tmp_path / "a.json",
        tmp_path / "a.csv",
        to="csv",
        reading=reading.add,
        progress=converting.add,
    )
    assert reading.done[-1] == (tmp_path / "a.json").stat().st_size
    assert (converting.done, converting.totals) == ([0, 1], [2, 2])
