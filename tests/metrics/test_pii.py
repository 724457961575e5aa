from __future__ import annotations

import pytest

from carob.metrics.pii import findings

pytest.importorskip("stdnum")
pytest.importorskip("phonenumbers")
pytest.importorskip("detect_secrets")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("card 4111 1111 1111 1111", "card number"),
        ("card 378282246310005.", "card number"),
        ("SSN 536-90-4399", "social security number"),
        ("IBAN DE89 3704 0044 0532 0130 00", "IBAN"),
        ("call +44 20 7946 0958", "phone number"),
        ("jane.calder@mail.example", "email address"),
        ("AKIAIOSFODNN7EXAMPLQ", "secret"),
        ("-----BEGIN RSA PRIVATE KEY-----", "secret"),
    ],
)
def test_personal_data_is_found(text: str, kind: str):
    assert [finding.kind for finding in findings(f"Sure: {text} that is it")] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "order 482913657",
        "order 4111111111111112",
        "invoice 536904399",
        "SSN 000-12-3456",
        "parcel 1Z999AA10123456784",
        "IBAN DE00 3704 0044 0532 0130 00",
        "support@harbour.example",
        "version 10.20.30.40 of 2026-01-31",
        "2938471650123",
    ],
)
def test_other_numbers_are_not_taken_for_personal_data(text: str):
    assert list(findings(f"It is {text} here")) == []


def test_each_piece_is_found_once():
    assert len(list(findings("a.b@mail.example, a.b@mail.example"))) == 1
