"""What a lint rule is, what it sees and reports, and the table of all rules.

A family groups rules that share one pass over the cases. It declares its rules beside the check
that finds their violations. Third parties add families through the entry point group
`carob.lint_rules`; each entry point names a subclass of `RuleFamily`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, NamedTuple, TypeAlias

from carob.errors import UsageError, install_hint
from carob.schema import Case, Dataset, DatasetPurpose, Json, LintRule, Severity
from carob.text.spelling import did_you_mean

JsonPath: TypeAlias = tuple[str | int, ...]
"""Keys and indexes that lead to a value in a document."""

_PUNCTUATION = re.compile(r"[\W_]+")

NOT_CHECKED = LintRule(
    id="C001",
    name="not-checked",
    level="warning",
    summary="A rule could not be checked because a package is not installed.",
)
"""Any family may report this."""
UNKNOWN_RULE = LintRule(
    id="C002",
    name="unknown-rule",
    level="error",
    summary="A case ignores a rule that does not exist.",
)


class CaseLocation(NamedTuple):
    """Where a case is in its file. Small, because families keep one for every case."""

    case: str | None
    base: JsonPath = ()
    """The path of the case in its document; empty for rows and tables, which have a line."""
    line: int | None = None
    ignored: frozenset[str] = frozenset()
    """Ids of the rules that the case ignores."""

    def __str__(self) -> str:
        return f"case {self.case!r}" if self.case else "the dataset"

    def with_line(self) -> str:
        """The case and, in rows and tables, its line: `case 'q_1' on line 3`."""
        return f"{self} on line {self.line}" if self.line else str(self)


WHOLE_DATASET = CaseLocation(None)


class LintItem(NamedTuple):
    """A case, and the document that it was read from."""

    case: Case
    doc: Json
    location: CaseLocation


class Violation(NamedTuple):
    """A violation of a rule, before suppressions are applied."""

    rule: LintRule
    location: CaseLocation
    message: str
    hint: str | None = None
    path: JsonPath = ()
    """Relative to the case."""
    span: tuple[int, int] | None = None
    """Offset and length in the text at `path`."""
    extra: str | None = None
    """The extra that a rule requires that could not be checked."""


def not_checked(kinds: str, packages: str, *, extra: str) -> Violation:
    """Say that some kinds of mistakes could not be looked for without the packages of an extra."""
    message = f"{kinds} not checked ({packages} not installed)"
    return Violation(NOT_CHECKED, WHOLE_DATASET, message, install_hint(extra), extra=extra)


class LintOptions(NamedTuple):
    """Which rules apply, and how severe their violations are."""

    ignore: frozenset[str] = frozenset()
    """Ids of the rules that are not checked."""
    levels: Mapping[str, Severity] = {}
    """Levels by rule id that override the rules' own."""
    use: DatasetPurpose | None = None
    tags: tuple[str, ...] = ()
    """The tags that cases may have; any if empty."""
    region: str | None = None
    """The country code for phone numbers that have none."""


class RuleFamily:
    """Related rules and the check that finds their violations; one instance checks one file.

    `visit` is called once per case, in file order, then `finish` once. Override either.
    """

    rules: ClassVar[tuple[LintRule, ...]] = ()

    def __init__(self, settings: LintOptions) -> None:
        self.settings = settings

    def visit(self, item: LintItem) -> Iterable[Violation]:
        """Check one case."""
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterable[Violation]:
        """Check the file as a whole; `header` is the dataset without its cases."""
        return ()


class RuleTable:
    """All known rules, by id and by name."""

    def __init__(self, families: Iterable[type[RuleFamily]]) -> None:
        # Entry points come in the order of installation; sorting makes reports independent of it.
        self.families = sorted(families, key=lambda family: min(rule.id for rule in family.rules))
        declared = [rule for family in self.families for rule in family.rules]
        self.rules = tuple(sorted([NOT_CHECKED, UNKNOWN_RULE, *declared], key=lambda rule: rule.id))
        self._by_name: dict[str, LintRule] = {}
        for rule in self.rules:
            for name in (rule.id, rule.name):
                if self._by_name.setdefault(name, rule) is not rule:
                    raise UsageError(f"duplicate lint rule {name!r}")

    def extend(self, families: Iterable[type[RuleFamily]]) -> RuleTable:
        """A table with more families."""
        return RuleTable([*self.families, *families])

    def find(self, name: str) -> LintRule | None:
        """The rule with this id or name, in any case."""
        rules = self._by_name
        return rules.get(name) or rules.get(name.upper()) or rules.get(name.lower())

    def get(self, name: str, *, where: str | None = None) -> LintRule:
        """The rule with this id or name; raises `UsageError` with a suggestion if unknown."""
        rule = self.find(name)
        if rule is None:
            raise UsageError(
                f"unknown lint rule {name!r}", where=where, hint=self.suggest_rule(name)
            )
        return rule

    def ids(self, names: Iterable[str]) -> frozenset[str]:
        """The ids of the rules with these ids or names."""
        return frozenset(self.get(name).id for name in names)

    def suggest_rule(self, name: str) -> str:
        """A hint for an unknown rule: the closest one, or all of them."""
        names = ", ".join(rule.name for rule in self.rules)
        return did_you_mean(name, self._by_name, cutoff=0.6) or f"expected one of: {names}"


def texts(value: Json, path: JsonPath = ()) -> Iterator[tuple[JsonPath, str]]:
    """Every text in a document, with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str | list | dict):
                yield from texts(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str | list | dict):
                yield from texts(item, (*path, key))


def path_of(doc: Json, text: str) -> JsonPath:
    """The path of a text in a document, or of the first text that contains it.

    Empty, which points at the case itself, if there is none: a format may derive its texts.
    """
    containing: JsonPath | None = None
    for path, candidate in texts(doc):
        if candidate == text:
            return path
        if containing is None and text.strip() and text.strip() in candidate:
            containing = path
    return containing or ()


def plain_text(text: str) -> str:
    """A text in lower case and without punctuation, for comparing."""
    return _PUNCTUATION.sub(" ", text.casefold()).strip()
