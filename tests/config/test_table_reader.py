from __future__ import annotations

import pytest

from carob.config.config_file import parse_document
from carob.config.table_reader import Table
from carob.errors import FormatError


def table(text: str) -> Table:
    document = parse_document(text, source="carob.toml")
    return Table(document, document.value)


def test_values_are_read_by_kind_and_absent_ones_are_none():
    made = table("name = 'a'\nlimit = 3\non = true\nall = ['x', 'y']\none = 'z'\n[sub]\nk = 1")
    assert (made.text("name"), made.number("limit"), made.flag("on")) == ("a", 3.0, True)
    assert (made.texts("all"), made.texts("one")) == (("x", "y"), ("z",))
    sub = made.table("sub")
    assert sub
    assert sub.number("k") == 1
    assert (made.text("no"), made.number("no"), made.table("no"), made.texts("no")) == (
        *(None, None, None),
        (),
    )
    made.close()


def test_keys_may_be_written_in_camel_case():
    assert table("matchType = 'EXACT'").text("match_type") == "EXACT"


def test_the_same_key_in_two_spellings_is_an_error():
    with pytest.raises(FormatError, match="duplicate key: 'match_type' and 'matchType'"):
        table("match_type = 'a'\nmatchType = 'b'").text("match_type")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1", "carob.toml line 1, x: expected text, got 1"),
        ("x = {}", "carob.toml line 1, x: expected text, got {}"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_place(text: str, message: str):
    with pytest.raises(FormatError) as caught:
        table(text).text("x")
    assert str(caught.value) == message


def test_true_is_not_a_number():
    with pytest.raises(FormatError, match="expected a number, got True"):
        table("x = true").number("x")


def test_a_list_names_the_item_that_is_wrong():
    with pytest.raises(FormatError, match=r"x\[1\]: expected text, got 2"):
        table("x = ['a', 2]").texts("x")


def test_a_key_that_nobody_asked_for_is_an_error_that_suggests_the_right_one():
    made = table("golden = 'a'\ntrcaes = []")
    made.text("golden")
    made.texts("traces")
    with pytest.raises(FormatError, match="line 2, trcaes: unknown key 'trcaes'") as caught:
        made.close()
    assert caught.value.hint == "did you mean 'traces'?"


def test_a_key_like_no_other_is_an_error_that_lists_what_is_known():
    made = table("speed = 3")
    made.text("golden")
    made.texts("traces")
    with pytest.raises(FormatError) as caught:
        made.close()
    assert caught.value.hint == "expected one of: golden, traces"


def test_a_loose_table_minds_only_misspelt_keys():
    made = table("speed = 3")
    made.text("golden")
    made.close_loosely()
    made = table("goldn = 'a'")
    made.text("golden")
    with pytest.raises(FormatError, match="unknown key 'goldn'"):
        made.close_loosely()
