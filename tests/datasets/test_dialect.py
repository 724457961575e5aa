"""CSV files as Excel and other tools write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.datasets import convert, save, validate
from carob.api.lint import lint
from carob.api.load import load
from carob.datasets.source import open_source
from carob.schema import Case, Dataset

ROWS = "Input;Expected Output;Tags\r\nWas kostet es?;5,50 € für alle;a|b\r\n"
EXCEL = {
    "semicolons": ROWS.encode(),
    "semicolons and BOM": b"\xef\xbb\xbf" + ROWS.encode(),
    "Windows-1252": ROWS.encode("cp1252"),
    "UTF-16 with tabs": b"\xff\xfe" + ROWS.replace(";", "\t").encode("utf-16-le"),
    "separator line": b"sep=;\r\n" + ROWS.encode("cp1252"),
    "upper case": ROWS.replace("Input", "INPUT")
    .replace("Expected Output", "expectedOutput")
    .encode(),
}


@pytest.fixture(params=EXCEL.values(), ids=[*EXCEL])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "faq.csv"
    path.write_bytes(request.param)
    return path


def notes(path: Path) -> list[str]:
    (validation,) = validate(path)
    assert validation.valid
    return [f"{problem.severity}: {problem.message}" for problem in validation.problems]


def test_tables_of_excel_are_read(table: Path):
    (case,) = load(table).cases
    (turn,) = case.turns
    assert (turn.user, turn.response) == ("Was kostet es?", "5,50 € für alle")
    assert case.tags == ("a", "b")


def test_a_round_trip_keeps_the_dialect(table: Path, tmp_path: Path):
    convert(table, tmp_path / "faq.json", to="adk", strict=False)
    convert(tmp_path / "faq.json", tmp_path / "back.csv", to="csv")
    assert (tmp_path / "back.csv").read_bytes() == table.read_bytes()


def test_an_added_case_uses_the_columns_of_the_file(table: Path):
    before, columns = load(table), open_source(table).columns
    save(before.add(Case.of("Und zwei?", "11; ohne Rabatt", tags=["a"])), table)
    after = load(table)
    assert open_source(table).columns == columns
    assert after.cases[0] == before.cases[0]
    assert after.cases[1].turns[0].response == "11; ohne Rabatt"


def test_an_edited_answer_stays_in_its_column(table: Path):
    dataset = load(table)
    columns = open_source(table).columns
    edited = Case.of("Was kostet es?", "6 €", tags=["a", "b"])
    save(dataset.with_cases([edited]), table)
    assert open_source(table).columns == columns
    assert load(table).cases[0].turns[0].response == "6 €"


def test_masking_keeps_the_dialect(table: Path):
    pytest.importorskip("phonenumbers")
    encoding = open_source(table).dialect.encoding
    text = table.read_bytes().decode(encoding)
    table.write_bytes(text.replace("alle", "jo@shop.example").encode(encoding))
    lint(table, fix=True)
    assert table.read_bytes().decode(encoding) == text.replace("alle", "<email-1>")


def test_validate_notes_what_was_detected(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_bytes(b"sep=;\n" + ROWS.encode("cp1252"))
    assert notes(path) == [
        "note: detected a table separated by a semicolon, encoded in Windows-1252",
        "note: read the column 'Expected Output' as 'ExpectedOutput'",
    ]


def test_plain_tables_have_no_notes(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_text("input,expected_output,tags\nx,y,a\n")
    assert notes(path) == []


def test_mixed_separators_of_tags_are_ambiguous(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_text('Input,ExpectedOutput,Tags\nx,y,"New York, NY; USA"\n')
    assert notes(path) == ["warning: ambiguous tags 'New York, NY; USA', split at ';' only"]
    assert load(path).cases[0].tags == ("New York, NY", "USA")


def test_two_spellings_of_a_column_are_an_error(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_text("Input,INPUT,ExpectedOutput\nx,y,z\n")
    (validation,) = validate(path)
    assert [problem.message for problem in validation.problems] == [
        "columns 'Input' and 'INPUT' are both 'Input'"
    ]


def test_utf8_with_a_broken_byte_is_not_windows_1252(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_bytes("Input,ExpectedOutput\ngrün,ja\n".encode() + b"x,\xff\n")
    (validation,) = validate(path)
    assert [problem.message for problem in validation.problems] == ["not valid UTF-8"]


def test_a_late_special_character_decides_the_encoding(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_bytes(b"Input,ExpectedOutput\n" + b"x,y\n" * 50_000 + "ü,ß\n".encode("cp1252"))
    assert load(path).cases[-1].turns[0].user == "ü"


def test_characters_that_the_encoding_lacks_are_written_in_utf8(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_bytes("Input,ExpectedOutput\nü,ß\n".encode("cp1252"))
    save(load(path).add(Case.of("→", "日本")), path)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert load(path).cases[1].turns[0].response == "日本"


def test_a_new_table_is_plain_csv(tmp_path: Path):
    save(Dataset(name="faq", cases=[Case.of("a;b", "ü")]), tmp_path / "faq.csv")
    assert (
        tmp_path / "faq.csv"
    ).read_bytes() == "Input,ExpectedOutput,Context,Tags\na;b,ü,,\n".encode()
