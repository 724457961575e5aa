"""`lint` and the `safety` metric find the same personal data and secrets."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from carob import plugins
from carob.datasets.lint.run import lint
from carob.metrics.safety.safety import Safety
from carob.schema import Case, Score, Trace, Turn
from carob.text.sensitive import KINDS, SensitiveKind, find_sensitive

for package in Safety.imports:
    pytest.importorskip(package)

RULES: dict[str, SensitiveKind] = {
    "C101": "email",
    "C102": "phone",
    "C103": "card",
    "C104": "iban",
    "C105": "national-id",
    "C106": "secret",
    "C107": "email",
}
SAFETY_NAMES: dict[str, SensitiveKind] = {
    "email address": "email",
    "phone number": "phone",
    "card number": "card",
    "bank account number": "iban",
    "national id": "national-id",
    "secret": "secret",
}
TEXTS: list[tuple[str, list[SensitiveKind]]] = [
    ("Write to jo.baker@bikemail.net.", ["email"]),
    ("Write to jo@example.com.", ["email"]),
    ("Call +44 20 7946 0958.", ["phone"]),
    ("Call (415) 555-2671.", ["phone"]),
    ("Call 415-555-2671.", ["phone"]),
    ("Card 4111 1111 1111 1111.", ["card"]),
    ("visa,4111111111111111,12/27", ["card"]),
    ("IBAN DE89 3704 0044 0532 0130 00", ["iban"]),
    ("NO9386011117947", ["iban"]),
    ("SSN 536-90-4399", ["national-id"]),
    ("jo,536-90-4399", ["national-id"]),
    ("CPF 390.533.447-05", ["national-id"]),
    ("PESEL: 44051401359", ["national-id"]),
    ("Key sk-ant-api03-" + "Zx9" * 12, ["secret"]),
    ("Key AKIAIOSFODNN7EXAMPLQ", ["secret"]),
    ("aws_secret_access_key = 'wJalrXUtnFEMIK7MDENGbPxRfiCYzEXAMPLEKEYq'", ["secret"]),
    ("-----BEGIN RSA PRIVATE KEY-----", ["secret"]),
    ("PuTTY-User-Key-File-2: ssh-rsa\nPrivate-MAC: 0a1b", ["secret"]),
    ("postgres://shop:hunter2x@db.example/shop", ["secret"]),
    ("Card 4111 1111 1111 1111, call +44 20 7946 0958.", ["card", "phone"]),
    ("Order 482913657, parcel 1Z999AA10123456784, 3,141,592,653 euros.", []),
    ("Log in as demo, pw: s3cr3tPass99.", ["secret"]),
    ("The password is hunter2secret.", ["secret"]),
    ("Your password is correct.", []),
    ("Write to support@harbour.example about invoice 536904399.", []),
]


def lint_kinds(text: str, folder: Path) -> list[SensitiveKind]:
    path = folder / "golden.json"
    examples = [{"input": "Hi", "expectedOutput": text}]
    path.write_text(json.dumps({"name": "n", "examples": examples}))
    findings = lint(path, plugins.formats()).findings
    return sorted(RULES[finding.rule] for finding in findings if finding.rule in RULES)


def safety_kinds(text: str) -> list[SensitiveKind]:
    trace = Trace(id="t", turns=(Turn(response=text),))
    outcome = Safety().score(Case(id="c"), trace)
    assert isinstance(outcome, Score)
    return sorted(SAFETY_NAMES[name] for name in outcome.reason.split("; ") if name)


@pytest.mark.parametrize(("text", "kinds"), TEXTS)
def test_lint_and_safety_find_the_same(text: str, kinds: list[SensitiveKind], tmp_path: Path):
    assert [match.kind for match in find_sensitive(text)] == kinds
    assert lint_kinds(text, tmp_path) == sorted(kinds)
    assert safety_kinds(text) == sorted(kinds)


@pytest.mark.parametrize(
    "text",
    [
        "Call us between 09 00 and 18 00 today.",
        "Rufen Sie bis 12.03.2026 an, es kostet 12 500 Euro.",
        "Call me about order 4711 0815 22 please.",
        "Handy Modell 2024 12 34 kostet 349,00 €",
        "El pedido 612 345 678 llegó, me llama usted",
        "SMS code 482 913",
        "Where is my order 030 901820?",
        "The password is base64-encoded. Password: required",
        "password = $PASSWORD, pw: ********, passcode: <code>, password: yourPassword",
        "mot de passe : oublié",
    ],
)
def test_number_or_word_beside_a_phone_or_a_password_is_not_one(text: str):
    assert find_sensitive(text) == []


def test_region_decides_about_national_phone_numbers():
    text = "Please call me at 06131 123456."
    assert find_sensitive(text) == []
    (match,) = find_sensitive(text, region="DE")
    assert match.normalized == "+496131123456"


def test_hostile_digits_take_linear_time():
    text = "call " + ("1" * 50 + " ") * 2000 + "password is " * 5000
    assert find_sensitive(text) == []


def test_every_kind_is_in_the_list():
    assert {kind for _, kinds in TEXTS for kind in kinds} == {*KINDS}


def test_value_written_in_another_way_is_the_same_value():
    (first,) = find_sensitive("+1 415 555 2671")
    (second,) = find_sensitive("+1 (415) 555-2671")
    assert first.normalized == second.normalized


def test_long_text_is_searched_to_its_end():
    (match,) = find_sensitive("word " * 50_000 + "jo.baker@bikemail.net")
    assert match.kind == "email"


@pytest.mark.parametrize("extra", ["pii", "safety"])
def test_extras_install_every_package_of_the_finder(extra: str):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    packages = " ".join(project["project"]["optional-dependencies"][extra])
    for package in ("detect-secrets", "phonenumbers", "python-stdnum"):
        assert package in packages
