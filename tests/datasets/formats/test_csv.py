from __future__ import annotations

from carob.datasets.formats.csv import CsvFormat
from carob.schema import Case


def test_empty_cells_are_reported_in_either_dialect():
    assert [p.where for p in CsvFormat().check({"Input": "x"})] == ["$.ExpectedOutput"]
    assert [p.where for p in CsvFormat().check({"expected_output": "x"})] == ["$.Input"]


def test_tags_are_separated_by_semicolons():
    case = CsvFormat().cases("table").get({"input": "a", "expected_output": "b", "tags": "x; y;;"})
    assert case.tags == ("x", "y")


def test_both_dialects_are_claimed_in_any_order():
    assert CsvFormat().claims({"Tags": None, "ExpectedOutput": None, "Input": None})
    assert CsvFormat().claims({"expected_output": None, "input": None})
    assert CsvFormat().claims({"INPUT": None, "Expected Output": None})
    assert not CsvFormat().claims({"Input": None, "Output": None})


def test_tag_that_a_cell_cannot_store_is_preserved():
    lens = CsvFormat().cases("table")
    output = lens.put(Case.of("nul \0 here", "b", tags=["x;y"]), {})
    assert output.doc == {"Input": "nul  here", "ExpectedOutput": "b", "Tags": "x;y"}
    assert "turns[0].user" in output.lost
    assert any(field.startswith("tags") for field in output.lost)
    assert lens.get(output.doc, output.round_trip).tags == ("x;y",)
