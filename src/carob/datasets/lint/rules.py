"""Every rule: its id, its name, how grave it is, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable

from carob.errors import UsageError
from carob.schema import LintRule
from carob.text.spelling import meant

RULES = (
    LintRule(
        id="K001",
        name="not-checked",
        level="warning",
        summary="A rule could not be checked, because a package is not installed.",
    ),
    LintRule(
        id="K002",
        name="unknown-rule",
        level="error",
        summary="A case silences a rule that does not exist.",
    ),
    LintRule(
        id="K101",
        name="pii-email",
        level="error",
        summary="An email address of a person.",
    ),
    LintRule(
        id="K102",
        name="pii-phone",
        level="error",
        summary="A phone number that the numbering plan of its country knows.",
    ),
    LintRule(
        id="K103",
        name="pii-card",
        level="error",
        summary="A payment card number whose check digit holds.",
    ),
    LintRule(
        id="K104",
        name="pii-iban",
        level="error",
        summary="A bank account number whose check digits hold.",
    ),
    LintRule(
        id="K105",
        name="pii-national-id",
        level="error",
        summary="A number that a state gives to a person, such as a social security number.",
    ),
    LintRule(
        id="K106",
        name="secret",
        level="error",
        summary="A key, a token, a private key, or a password in an address.",
    ),
    LintRule(
        id="K107",
        name="pii-reserved-email",
        level="warning",
        summary="A person's address at a domain that is reserved for examples.",
    ),
    LintRule(
        id="K201",
        name="duplicate",
        level="warning",
        summary="A case has the input and the expectation of an earlier one.",
    ),
    LintRule(
        id="K202",
        name="near-duplicate",
        level="warning",
        summary="A case asks nearly the same as an earlier one.",
    ),
    LintRule(
        id="K203",
        name="contradiction",
        level="error",
        summary="A case has the input of an earlier one and expects something else.",
    ),
    LintRule(
        id="K301",
        name="undeclared-tool",
        level="error",
        summary="A call is expected of a tool that no agent declares.",
    ),
    LintRule(
        id="K401",
        name="inconsistent-tag",
        level="warning",
        summary="A tag is another spelling of one that is used more often.",
    ),
    LintRule(
        id="K501",
        name="unbalanced-coverage",
        level="warning",
        summary="Happy paths, edge cases, errors and ambiguous questions are not all covered.",
    ),
    LintRule(
        id="K502",
        name="unknown-coverage",
        level="note",
        summary="No case says whether it is a happy path, an edge case, an error or ambiguous.",
    ),
    LintRule(
        id="K503",
        name="unfit-size",
        level="warning",
        summary="The dataset is too small or too large for its use.",
    ),
    LintRule(
        id="K504",
        name="unknown-use",
        level="note",
        summary="The use of the dataset is not stated, so its size was not judged.",
    ),
    LintRule(
        id="K601",
        name="no-expectation",
        level="warning",
        summary="A case expects nothing, or an empty answer.",
    ),
    LintRule(
        id="K602",
        name="unrealistic-expectation",
        level="warning",
        summary="An expected answer is a placeholder, a long checklist, or the question again.",
    ),
    LintRule(
        id="K603",
        name="unsupported-answer",
        level="warning",
        summary="The context does not contain what the expected answer says.",
    ),
    LintRule(
        id="K701",
        name="typo",
        level="warning",
        summary="A word of an expectation is a known misspelling.",
    ),
)
_BY_NAME = {name: rule for rule in RULES for name in (rule.id, rule.name)}


def find_rule(name: str) -> LintRule | None:
    """The rule of that id or name."""
    return _BY_NAME.get(name) or _BY_NAME.get(name.upper()) or _BY_NAME.get(name.lower())


def rule_named(name: str, *, where: str | None = None) -> LintRule:
    """The rule of that id or name; an unknown one is an error that names the nearest."""
    rule = find_rule(name)
    if rule is None:
        raise UsageError(f"no rule {name!r}", where=where, hint=meant_rule(name))
    return rule


def rule_ids(names: Iterable[str]) -> frozenset[str]:
    """The ids of rules by their ids or names."""
    return frozenset(rule_named(name).id for name in names)


def meant_rule(name: str) -> str:
    """The hint for a rule that does not exist."""
    listed = ", ".join(rule.name for rule in RULES)
    return meant(name, _BY_NAME, cutoff=0.6) or f"the rules are {listed}"
