"""`carob lint`: read a file once and show every case to every rule family."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import UNSET

from carob.datasets.formats import Format, list_key
from carob.datasets.lint.fix import FileMasking
from carob.datasets.lint.privacy import redact
from carob.datasets.lint.rules import (
    UNKNOWN_RULE,
    CaseLocation,
    JsonPath,
    LintItem,
    LintOptions,
    RuleTable,
    Violation,
)
from carob.datasets.read import GoldenFile, open_golden, read_cases
from carob.datasets.sidecar import Sidecar, read_sidecar
from carob.files.collector import collector_paused
from carob.files.lock import lock_folder
from carob.lazy import load_object
from carob.schema import Case, Finding, Json, LintedFile
from carob.schema.problem import ProgressListener, ignore

IGNORE_KEY = "lint_ignore"
"""The metadata key under which a case lists rules to ignore."""

FAMILIES = {
    "privacy": "carob.datasets.lint.privacy:Privacy",
    "duplicates": "carob.datasets.lint.duplicates:Duplicates",
    "near-duplicates": "carob.datasets.lint.near_duplicates:NearDuplicates",
    "undeclared-tools": "carob.datasets.lint.tools:UndeclaredTools",
    "inconsistent-tags": "carob.datasets.lint.tags:InconsistentTags",
    "unknown-tags": "carob.datasets.lint.tags:UnknownTags",
    "coverage": "carob.datasets.lint.coverage:Coverage",
    "dataset-size": "carob.datasets.lint.coverage:DatasetSize",
    "expectations": "carob.datasets.lint.expectations:Expectations",
    "unsupported-answers": "carob.datasets.lint.expectations:UnsupportedAnswers",
    "typos": "carob.datasets.lint.typos:Typos",
}
"""The built-in rule families; other packages add theirs in the group `carob.lint_rules`."""
BUILT_IN = RuleTable(load_object(reference) for reference in FAMILIES.values())
_DEFAULT = LintOptions()


def lint(
    path: Path,
    formats: Sequence[Format],
    *,
    name: str | None = None,
    settings: LintOptions = _DEFAULT,
    rules: RuleTable = BUILT_IN,
    fix: bool = False,
    progress: ProgressListener = ignore,
) -> LintedFile:
    """Lint a golden file; with `fix`, mask it first and report what remains."""
    masked = 0
    if fix:
        with lock_folder(path.parent):
            opened = open_golden(path, formats, name)
            with collector_paused():
                masking = FileMasking(opened, [*_items(opened, rules)], settings)
            masking.write()
        masked = masking.count
    with collector_paused():
        opened = open_golden(path, formats, name, progress=progress)
        cases, violations = _check(opened, settings, rules)
        findings = _findings(opened, violations, settings)
    return LintedFile(
        path=str(path),
        format=opened.format.name,
        cases=cases,
        findings=tuple(findings),
        masked=masked if fix else UNSET,
    )


def _check(
    opened: GoldenFile, settings: LintOptions, rules: RuleTable
) -> tuple[int, list[Violation]]:
    families = [
        family(settings)
        for family in rules.families
        if not {rule.id for rule in family.rules} <= settings.ignore
    ]
    cases = 0
    violations: list[Violation] = []
    for item in _items(opened, rules):
        cases += 1
        violations.extend(_unknown_rules(item, rules))
        for family in families:
            violations.extend(family.visit(item))
    header = opened.format.header(opened.container, opened.source.stem).get(opened.frame)
    for family in families:
        violations.extend(family.finish(header, cases))
    return cases, violations


def _items(opened: GoldenFile, rules: RuleTable) -> Iterator[LintItem]:
    sidecar = read_sidecar(opened.source.path) if opened.container != "document" else Sidecar()
    key = list_key(opened.source.document, opened.format.items_keys)
    rows = zip(read_cases(opened, sidecar), opened.items(), strict=True)
    for index, (case, row) in enumerate(rows):
        is_whole = row.value is opened.source.document
        base: JsonPath = () if is_whole else (index,) if key is None else (key, index)
        ignored = [rules.find(name) for name in _names_to_ignore(case)]
        location = CaseLocation(
            case.id,
            base if opened.has_paths else (),
            None if opened.has_paths else row.line,
            frozenset(rule.id for rule in ignored if rule),
        )
        yield LintItem(case, row.value, location)


def _names_to_ignore(case: Case) -> list[str]:
    value = case.metadata.get(IGNORE_KEY)
    names: list[Json] = value if isinstance(value, list) else [value]
    return [name for name in names if isinstance(name, str)]


def _unknown_rules(item: LintItem, rules: RuleTable) -> Iterator[Violation]:
    for name in _names_to_ignore(item.case):
        if rules.find(name) is None:
            message = f"unknown lint rule {name!r} in {IGNORE_KEY!r}"
            yield Violation(UNKNOWN_RULE, item.location, message, rules.suggest_rule(name))


def _findings(
    opened: GoldenFile, violations: list[Violation], settings: LintOptions
) -> list[Finding]:
    """The violations that are not suppressed, by line."""
    reported = [
        violation
        for violation in violations
        if violation.rule.id not in settings.ignore
        and violation.rule.id not in violation.location.ignored
    ]
    paths = [_path_text((*violation.location.base, *violation.path)) for violation in reported]
    # One pass over the text for all paths: a pass per finding would be quadratic.
    lines = opened.source.find_lines({*paths}) if opened.has_paths else {}
    findings = [
        _finding(
            violation,
            path,
            lines.get(path) if opened.has_paths else violation.location.line,
            settings,
        )
        for violation, path in zip(reported, paths, strict=True)
    ]
    return sorted(
        findings, key=lambda finding: (finding.case is None, finding.line or 0, finding.rule)
    )


def _finding(violation: Violation, path: str, line: int | None, settings: LintOptions) -> Finding:
    where = redact(path)  # a key may be an email address
    rule = violation.rule
    is_whole = violation.location.case is None and where == "$"
    return Finding(
        rule=rule.id,
        level=settings.levels.get(rule.id, rule.level),
        case=violation.location.case,
        where="" if is_whole else f"line {line} {where}" if line else where,
        message=violation.message,
        hint=violation.hint,
        line=None if is_whole else line,
        offset=violation.span[0] if violation.span else UNSET,
        length=violation.span[1] if violation.span else UNSET,
        extra=violation.extra or UNSET,
    )


def _path_text(path: JsonPath) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
