from __future__ import annotations

import pytest

from carob.config.config_file import parse_document
from carob.config.table_reader import Table
from carob.errors import FormatError


def table(text: str) -> Table:
    document = parse_document(text, source="carob.toml")
    return Table(document, document.value)


def test_values_are_read_by_type_and_missing_ones_are_none():
    settings = table("name = 'a'\nlimit = 3\non = true\nall = ['x', 'y']\none = 'z'\n[sub]\nk = 1")
    assert (settings.text("name"), settings.number("limit"), settings.flag("on")) == (
        "a",
        3.0,
        True,
    )
    assert (settings.texts("all"), settings.texts("one")) == (("x", "y"), ("z",))
    sub = settings.table("sub")
    assert sub
    assert sub.number("k") == 1
    assert (
        settings.text("no"),
        settings.number("no"),
        settings.table("no"),
        settings.texts("no"),
    ) == (
        *(None, None, None),
        (),
    )
    settings.close()


def test_keys_may_be_written_in_camel_case():
    assert table("matchType = 'EXACT'").text("match_type") == "EXACT"


def test_same_key_in_two_spellings_is_an_error():
    with pytest.raises(FormatError, match="duplicate key: 'match_type' and 'matchType'"):
        table("match_type = 'a'\nmatchType = 'b'").text("match_type")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "carob.toml line 1, x: expected text, got 1"),
        ("x = {}", "carob.toml line 1, x: expected text, got {}"),
    ],
)
def test_value_of_the_wrong_type_is_located(text: str, message: str):
    with pytest.raises(FormatError) as caught:
        table(text).text("x")
    assert str(caught.value) == message


def test_true_is_not_a_number():
    with pytest.raises(FormatError, match="expected a number, got True"):
        table("x = true").number("x")


def test_wrong_list_item_is_located():
    with pytest.raises(FormatError, match=r"x\[1\]: expected text, got 2"):
        table("x = ['a', 2]").texts("x")


def test_unknown_key_suggests_the_closest_key():
    settings = table("golden = 'a'\ntrcaes = []")
    settings.text("golden")
    settings.texts("traces")
    with pytest.raises(FormatError, match="line 2, trcaes: unknown key 'trcaes'") as caught:
        settings.close()
    assert caught.value.hint == "did you mean 'traces'?"


def test_unknown_key_lists_the_known_keys():
    settings = table("speed = 3")
    settings.text("golden")
    settings.texts("traces")
    with pytest.raises(FormatError) as caught:
        settings.close()
    assert caught.value.hint == "expected one of: golden, traces"


def test_loose_table_reports_only_misspelled_keys():
    settings = table("speed = 3")
    settings.text("golden")
    settings.close_loosely()
    settings = table("goldn = 'a'")
    settings.text("golden")
    with pytest.raises(FormatError, match="unknown key 'goldn'"):
        settings.close_loosely()
