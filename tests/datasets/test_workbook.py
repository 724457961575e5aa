"""Excel workbooks are read as tables, with the texts that Excel shows."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from carob import plugins
from carob.api.datasets import convert, save, summarise, validate
from carob.api.load import load
from carob.datasets.number_format import cell_text
from carob.datasets.read import open_golden
from carob.errors import InputError, UnknownFormatError, UsageError

HEADER = ["Input", "Expected Output", "Tags"]


def workbook(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_cells_become_texts(tmp_path: Path):
    rows = [HEADER, ["How many?", 42.0, "a;b"], [], ["Is it open?", True, None]]
    dataset = load(workbook(tmp_path / "faq.xlsx", Golden=rows))
    assert dataset.name == "faq"
    assert [case.turns[0].response for case in dataset] == ["42", "TRUE"]
    assert dataset[0].tags == ("a", "b")


def test_first_sheet_that_fits_is_read_and_the_others_are_named(tmp_path: Path):
    path = workbook(
        tmp_path / "faq.xlsx",
        Notes=[["to do"], ["ask Sam"]],
        Empty=[],
        Golden=[HEADER, ["Hi", "Hello", ""]],
        Old=[HEADER, ["Bye", "Bye", ""]],
    )
    (result,) = validate(path)
    assert (result.format, result.valid, result.cases) == ("csv", True, 1)
    notes = [problem.message for problem in result.problems]
    assert "read the sheet 'Golden'; other sheets: 'Notes', 'Empty', 'Old'" in notes


def test_a_problem_names_its_row(tmp_path: Path):
    rows = [HEADER, ["Hi", "Hello", ""], [], ["Bye", None, ""], ["a", "b", "c", "d"]]
    (result,) = validate(workbook(tmp_path / "faq.xlsx", Golden=rows))
    errors = [problem for problem in result.problems if problem.severity == "error"]
    assert [problem.where for problem in errors] == ["line 4 $.ExpectedOutput", "line 5"]


def test_a_workbook_converts_to_every_format_and_is_summarised(tmp_path: Path):
    path = workbook(tmp_path / "faq.xlsx", Golden=[HEADER, ["Hi", "Hello", "a"]])
    assert summarise(path).tags == {"a": 1}
    for form in plugins.formats():
        if form.writable:
            convert(path, tmp_path / form.name, to=form.name)
            assert load(tmp_path / form.name)[0].turns[0].user == "Hi"


def test_a_workbook_is_not_written(tmp_path: Path):
    path = workbook(tmp_path / "faq.xlsx", Golden=[HEADER, ["Hi", "Hello", "a"]])
    with pytest.raises(UsageError, match="cannot write the Excel workbook") as caught:
        save(load(path), tmp_path / "new.xlsx")
    assert caught.value.hint == "write new.csv"


def test_a_workbook_that_fits_no_format_lists_its_columns(tmp_path: Path):
    path = workbook(tmp_path / "faq.xlsx", Golden=[["Frage", "Antwort"], ["Hi", "Hallo"]])
    with pytest.raises(UnknownFormatError, match="no golden format matches") as caught:
        load(path)
    assert caught.value.hint
    assert caught.value.hint.startswith("found the columns `Frage`, `Antwort`;")
    with pytest.raises(UnknownFormatError, match="no sheet with cells"):
        load(workbook(tmp_path / "empty.xlsx", Golden=[]))


def test_damaged_and_huge_workbooks_are_refused(tmp_path: Path):
    path = workbook(tmp_path / "faq.xlsx", Golden=[HEADER, ["Hi", "Hello", "a"]])
    broken = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(path) as good, zipfile.ZipFile(broken, "w") as bad:
        for name in good.namelist():
            bad.writestr(name, good.read(name)[:100])
    with pytest.raises(InputError, match="damaged Excel workbook"):
        load(broken)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("xl/media/image.bin", b"\0" * (20 << 20))
    with pytest.raises(InputError, match="an Excel workbook of 20 MiB when decompressed"):
        load(path)


def test_a_zip_archive_is_not_a_workbook(tmp_path: Path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.json", "{}")
    with pytest.raises(UnknownFormatError, match="a zip archive"):
        open_golden(path, plugins.formats())


def test_a_missing_package_is_reported_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = workbook(tmp_path / "faq.xlsx", Golden=[HEADER, ["Hi", "Hello", "a"]])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(UsageError, match="requires the package 'openpyxl'") as caught:
        load(path)
    assert "[excel]'" in str(caught.value.hint)


WHEN = datetime(2025, 1, 5, 14, 3, 9)


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.5, "0%", "50%"),
        (0.125, "0.0%", "12.5%"),
        (1234.5, "#,##0.00", "1,234.50"),
        (19.9, '"$"#,##0.00', "$19.90"),
        (19.9, "#,##0.00 [$€-407]", "19.90 €"),
        (19.99, '_("$"* #,##0.00_)', "$19.99"),
        (-3, "0", "-3"),
        (-3, "0;(0)", "(3)"),
        (0, '0;-0;"none"', "none"),
        (7, "00000", "00007"),
        (2.5, "0", "3"),
        (1.005, "0.00", "1.01"),
        (5.0, "0.##", "5"),
        (1234567, '#,##0,"k"', "1,235k"),
        (5, '0 "days"', "5 days"),
        (1.5, "# ?/?", "1.5"),
        (0.1 + 0.2, "General", "0.3"),
        (1 / 3, "General", "0.333333333"),
        (4006381333931, "General", "4006381333931"),
        (1e20, "General", "1E+20"),
        (3, "@", "3"),
        (True, "General", "TRUE"),
        (None, "General", ""),
        (WHEN, "yyyy-mm-dd", "2025-01-05"),
        (WHEN, "dd/mm/yyyy hh:mm", "05/01/2025 14:03"),
        (WHEN, "h:mm AM/PM", "2:03 PM"),
        (WHEN, "mm:ss", "03:09"),
        (WHEN, "d-mmm-yy", "5-Jan-25"),
        (WHEN, r"[$-409]d\ mmmm\ yyyy;@", "5 January 2025"),
        (WHEN, "dddd, d. mmmm yyyy", "Sunday, 5. January 2025"),
        (date(2025, 1, 5), "mm-dd-yy", "2025-01-05"),
        (time(9, 5), "h:mm:ss", "9:05:00"),
    ],
)
def test_text_is_what_excel_shows(value: object, code: str, text: str):
    assert cell_text(value, code) == text
