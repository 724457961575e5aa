from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec import UNSET

from carob.datasets.lint import privacy
from carob.errors import install_hint
from carob.schema import Finding, Json
from carob.text.sensitive import SensitiveKind, find_sensitive

for package in ("stdnum", "phonenumbers", "detect_secrets"):
    pytest.importorskip(package)

Linted = Callable[..., list[Finding]]
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqbyJ9.c2lnbmF0dXJlLXNpZ25hdHVyZS1zaWc"

PERSONAL: list[tuple[str, SensitiveKind]] = [
    ("jo.baker@bikemail.net", "email"),
    ("JO+news@sub.bikemail.co.uk", "email"),
    ("+44 20 7946 0958", "phone"),
    ("+4930901820", "phone"),
    ("(415) 555-2671", "phone"),
    ("415-555-2671", "phone"),
    ("4111 1111 1111 1111", "card"),
    ("378282246310005", "card"),
    ("5555-5555-5555-4444", "card"),
    ("DE89 3704 0044 0532 0130 00", "iban"),
    ("GB82WEST12345698765432", "iban"),
    ("NO9386011117947", "iban"),
    ("536-90-4399", "national-id"),
    ("12345678Z", "national-id"),
    ("RSSMRA85T10A562S", "national-id"),
    ("756.9217.0769.85", "national-id"),
    ("390.533.447-05", "national-id"),
    ("AKIAIOSFODNN7EXAMPLQ", "secret"),
    ("ghp_" + "a1B2" * 9, "secret"),
    ("sk-ant-api03-" + "Zx9" * 12, "secret"),
    ("AIza" + "Sy4" * 11 + "Qw", "secret"),
    ("sk_live_" + "4eC39HqL" * 3, "secret"),
    (JWT, "secret"),
    ("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----", "secret"),
]
HARMLESS = [
    "order MB-20418",
    "order 482913657",
    "order 4111111111111112",
    "invoice 536904399",
    "SKU 123-456-7890",
    "SKU 55-1234-99812",
    "parcel 1Z999AA10123456784",
    "tracking 00340434161094022115",
    "2026-03-05",
    "05.03.2026 14:30:00",
    "2026-03-05T10:00:00+01:00",
    "version 1.2.3-4567",
    "version 10.20.30.40",
    "192.168.100.123",
    "EAN 4006381333931",
    "ISBN 978-3-16-148410-0",
    "DE00 3704 0044 0532 0130 00",
    "SSN 000-12-3456",
    "12345678A",
    "1772618400000000000",
    "0d9a28472dcea90eac70fbcae547593e",
    "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
    "support@harbour.example",
    "no-reply@harbour.example",
    "https://shop.example/orders/482913657?page=2",
    "3,141,592,653 euros",
    "<email-1>",
]


@pytest.mark.parametrize(("text", "kind"), PERSONAL)
def test_personal_data_and_secrets_are_found_at_their_offset(text: str, kind: SensitiveKind):
    (piece,) = find_sensitive(f"Sure: {text}, that is it")
    assert (piece.kind, piece.start, piece.text) == (kind, 6, text)


@pytest.mark.parametrize("text", HARMLESS)
def test_other_numbers_are_left_alone(text: str):
    assert find_sensitive(f"It is {text} here.") == []


@pytest.mark.parametrize(
    "text", ["my BSN is 111222333", "PESEL: 44051401359", "social security number 536904399"]
)
def test_ambiguous_number_counts_if_the_text_names_its_kind(text: str):
    assert [piece.kind for piece in find_sensitive(text)] == ["national-id"]


def test_password_in_a_url_is_a_secret():
    (piece,) = find_sensitive("postgres://shop:hunter2x@db.example/shop")
    assert (piece.kind, piece.text) == ("secret", "hunter2x")


def test_finding_has_its_offset_and_does_not_repeat_the_secret(linted: Linted):
    key = "sk_live_" + "4eC39HqL" * 3
    (finding,) = linted({"input": f"Key {key}", "expectedOutput": "Ok."}, rule="C106")
    assert (finding.offset, finding.length) == (4, len(key))
    assert (finding.where, finding.message) == ("line 5 $.examples[0].input", "secret 'sk…qL'")


def test_key_is_searched_and_not_repeated(linted: Linted):
    data: dict[str, Json] = {"jo.baker@bikemail.net": {"plan": "mia@bikemail.net"}}
    findings = linted({"input": "a", "expectedOutput": "b", "metadata": data}, rule="C101")
    assert len(findings) == 2
    assert not any("jo.baker@bikemail" in finding.where for finding in findings)


def test_reviewer_of_a_case_is_allowed(linted: Linted):
    data: dict[str, Json] = {"reviewed_by": "jo.baker@bikemail.net"}
    assert linted({"input": "a", "expectedOutput": "b", "metadata": data}, rule="C101") == []


def test_address_at_a_reserved_domain_is_a_warning(linted: Linted):
    (finding,) = linted({"input": "jo@example.com", "expectedOutput": "b"}, rule="C107")
    assert finding.level == "warning"


def test_kinds_that_cannot_be_checked_are_reported(linted: Linted, monkeypatch: pytest.MonkeyPatch):
    lacking: dict[SensitiveKind, str] = {"phone": "phonenumbers"}
    monkeypatch.setattr(privacy, "missing_packages", lambda: lacking)
    (finding,) = linted({"input": "a", "expectedOutput": "b"}, rule="C001")
    assert finding.message == "phone number not checked (phonenumbers not installed)"
    assert (finding.extra, finding.hint) == ("pii", install_hint("pii"))
    assert finding.offset is UNSET
