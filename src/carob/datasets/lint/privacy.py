"""C101 to C107: personal data and secrets anywhere in a case.

A finding never repeats the data: it shows only the first and last characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from carob.datasets.lint.rules import (
    WHOLE_DATASET,
    CaseLocation,
    JsonPath,
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
    not_checked,
    texts,
)
from carob.schema import Dataset, Json, LintRule, Problem
from carob.text.sensitive import (
    SensitiveKind,
    SensitiveMatch,
    find_sensitive,
    installed_kinds,
    missing_packages,
)

RULES: dict[SensitiveKind, LintRule] = {
    "email": LintRule(
        id="C101",
        name="pii-email",
        level="error",
        summary="The email address of a person.",
    ),
    "phone": LintRule(
        id="C102",
        name="pii-phone",
        level="error",
        summary="A phone number that is valid in the numbering plan of its country.",
    ),
    "card": LintRule(
        id="C103",
        name="pii-card",
        level="error",
        summary="A payment card number with a valid check digit.",
    ),
    "iban": LintRule(
        id="C104",
        name="pii-iban",
        level="error",
        summary="A bank account number with valid check digits.",
    ),
    "national-id": LintRule(
        id="C105",
        name="pii-national-id",
        level="error",
        summary="A national identification number, such as a social security number.",
    ),
    "secret": LintRule(
        id="C106",
        name="secret",
        level="error",
        summary="An API key, a token, a private key, or a password.",
    ),
}
RESERVED_EMAIL = LintRule(
    id="C107",
    name="pii-reserved-email",
    level="warning",
    summary="The email address of a person at a domain that is reserved for examples.",
)
_KIND_NAMES: dict[SensitiveKind, str] = {
    "email": "email address",
    "phone": "phone number",
    "card": "card number",
    "iban": "bank account number",
    "national-id": "national id",
    "secret": "secret",
}
_RESERVED_DOMAIN = re.compile(
    r"(?:[@.]example\.(?:com|net|org)|\.(?:example|test|invalid|localhost))$"
)
_REVIEWER_KEYS = frozenset(
    {"reviewed_by", "reviewedBy", "reviewer", "approved_by", "author", "review_history"}
)
"""Reviewers are named on purpose."""


class Privacy(RuleFamily):
    """Searches the document of a case, not the case: unknown fields and keys count, too."""

    rules = (*RULES.values(), RESERVED_EMAIL)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._missing = missing_packages()
        self._kinds = installed_kinds()

    def visit(self, item: LintItem) -> Iterator[Violation]:
        return self._search(item.doc, item.location)

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        frame = header.origin.doc if header.origin else None
        yield from self._search(frame, WHOLE_DATASET)
        if self._missing:
            kinds = ", ".join(_KIND_NAMES[kind] for kind in self._missing)
            packages = ", ".join(dict.fromkeys(self._missing.values()))
            yield not_checked(kinds, packages, extra="pii")

    def _search(self, doc: Json, location: CaseLocation) -> Iterator[Violation]:
        for path, text in texts_and_keys(doc):
            for match in find_sensitive(text, self._kinds, self.settings.region):
                if not is_allowed(match, path):
                    yield _violation(match, path, location)


def texts_and_keys(doc: Json) -> Iterator[tuple[JsonPath, str]]:
    """The texts and the keys of a document; the path of a key is that of its object."""
    yield from texts(doc)
    yield from ((path, key) for path, key in _keys(doc, ()) if len(key) > 6)


def _keys(doc: Json, path: JsonPath) -> Iterator[tuple[JsonPath, str]]:
    if isinstance(doc, dict):
        for key, value in doc.items():
            yield path, key
            if isinstance(value, dict | list):
                yield from _keys(value, (*path, key))
    elif isinstance(doc, list):
        for index, value in enumerate(doc):
            if isinstance(value, dict | list):
                yield from _keys(value, (*path, index))


def rule_for(match: SensitiveMatch) -> LintRule:
    """The rule that a match violates."""
    is_reserved = match.kind == "email" and _RESERVED_DOMAIN.search(match.normalized)
    return RESERVED_EMAIL if is_reserved else RULES[match.kind]


def is_allowed(match: SensitiveMatch, path: JsonPath) -> bool:
    """Is the match there on purpose?"""
    return match.kind == "email" and bool(path) and path[-1] in _REVIEWER_KEYS


def _violation(match: SensitiveMatch, path: JsonPath, location: CaseLocation) -> Violation:
    return Violation(
        rule_for(match),
        location,
        f"{_KIND_NAMES[match.kind]} {_shorten(match.text)!r}",
        "mask it with --fix",
        path,
        (match.start, len(match.text)),
    )


def find_personal_data(doc: Json, where: str) -> Iterator[Problem]:
    """Warn of personal data and secrets in a document that is not in a file yet."""
    for path, text in texts_and_keys(doc):
        for match in find_sensitive(text, _kinds_to_search()):
            if not is_allowed(match, path):
                place = ".".join(map(str, path))
                message = f"{_KIND_NAMES[match.kind]} {_shorten(match.text)!r}"
                hint = "mask it before others can read the case"
                yield Problem(
                    where=f"{where}, {place}", message=message, hint=hint, severity="warning"
                )


def _shorten(text: str) -> str:
    """Enough of a text to recognize it if one knows it, and not enough to learn it."""
    shown = 1 if len(text) < 12 else 2
    return f"{text[:shown]}…{text[-shown:]}"


@cache
def _kinds_to_search() -> tuple[SensitiveKind, ...]:
    return installed_kinds()


def redact(text: str) -> str:
    """A text with all personal data and secrets shortened."""
    for match in reversed(find_sensitive(text, _kinds_to_search())):
        text = text[: match.start] + _shorten(match.text) + text[match.end :]
    return text
