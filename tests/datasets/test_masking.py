from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.datasets.masking import Masks, mask_case
from carob.errors import UsageError, install_hint
from carob.schema import Case, ToolCall, Turn
from carob.text import sensitive
from carob.text.sensitive import SensitiveKind, find_sensitive

for package in ("stdnum", "phonenumbers", "detect_secrets"):
    pytest.importorskip(package)


def case(user: str, **args: str) -> Case:
    turn = Turn(user=user, tool_calls=(ToolCall(name="mail", args=dict(args)),))
    return Case(id="c", turns=(turn,), metadata={"reviewed_by": "ann@shop.example"})


def test_same_text_gets_the_same_placeholder_in_message_and_argument():
    (turn,) = mask_case(case("I am jo@mail.example", to="Jo@Mail.example"), Masks()).turns
    assert turn.user == "I am <email-1>"
    assert turn.tool_calls == (ToolCall(name="mail", args={"to": "<email-1>"}),)


def test_number_gets_the_same_placeholder_in_any_notation():
    text = "Call +1 415 555 2671, that is (415) 555-2671."
    assert Masks().mask(text) == "Call <phone-1>, that is <phone-1>."


def test_two_cases_share_placeholders():
    masks = Masks()
    assert masks.mask("From a.b@mail.example to c.d@mail.example") == "From <email-1> to <email-2>"
    assert masks.mask("Again c.d@mail.example") == "Again <email-2>"


def test_existing_placeholders_are_not_reused():
    masks = Masks()
    masks.reserve("Sent to <email-4>")
    assert masks.mask("jo@mail.example") == "<email-5>"


def test_end_of_a_long_text_is_masked_too():
    (turn,) = mask_case(case("x " * 20_000 + "jo@mail.example"), Masks()).turns
    assert "jo@mail" not in (turn.user or "")


def test_lineage_is_not_masked():
    assert mask_case(case("jo@mail.example"), Masks()).metadata == {
        "reviewed_by": "ann@shop.example"
    }


def test_case_with_nothing_to_mask_is_the_same():
    clean = case("Hello")
    assert mask_case(clean, Masks()) is clean


def test_missing_package_is_named(monkeypatch: pytest.MonkeyPatch):
    missing: dict[SensitiveKind, str] = {"phone": "phonenumbers"}
    monkeypatch.setattr(sensitive, "missing_packages", lambda: missing)
    with pytest.raises(UsageError, match="masking requires the package 'phonenumbers'") as caught:
        Masks()
    assert caught.value.hint == install_hint("pii")


PIECES = [
    "jo.baker@mail.example",
    "+49 30 901820",
    "(415) 555-2671",
    "4111 1111 1111 1111",
    "DE89 3704 0044 0532 0130 00",
    "536-90-4399",
    "ghp_" + "a1B2" * 9,
    "https://bob:hunter2x@db.example/",
    "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----",
    "MB-20418",
    "<email-1>",
    " ",
    "@",
    "-",
    "+1",
    "://",
    "x",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=8).map("".join))
def test_masked_text_has_nothing_left_to_mask(text: str):
    once = Masks().mask(text)
    assert find_sensitive(once) == []
    assert Masks().mask(once) == once


def test_only_emails_are_found_without_optional_packages(monkeypatch: pytest.MonkeyPatch):
    def absent(_package: str) -> None:
        return None

    monkeypatch.setattr(sensitive, "find_spec", absent)
    assert {*sensitive.missing_packages()} == {"phone", "card", "iban", "national-id", "secret"}
    assert sensitive.installed_kinds() == ("email",)
