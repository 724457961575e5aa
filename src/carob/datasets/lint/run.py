"""`carob lint`: a file is read once, and every rule sees every case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path as FilePath
from typing import NamedTuple

from msgspec import UNSET

from carob.datasets import locate
from carob.datasets.formats import Format, list_key
from carob.datasets.lint.check import Check, Found, Item, Path, Place
from carob.datasets.lint.context import UnsupportedAnswers
from carob.datasets.lint.coverage import Coverage
from carob.datasets.lint.duplicates import Duplicates
from carob.datasets.lint.expectations import Expectations
from carob.datasets.lint.fix import Fix
from carob.datasets.lint.near import NearDuplicates
from carob.datasets.lint.privacy import Privacy, hidden
from carob.datasets.lint.rules import RULES, find_rule, meant_rule
from carob.datasets.lint.size import Size
from carob.datasets.lint.tags import InconsistentTags
from carob.datasets.lint.tools import UndeclaredTools
from carob.datasets.lint.typos import Typos
from carob.datasets.read import Opened, open_golden, read_cases
from carob.datasets.sidecar import Aside, read_aside
from carob.datasets.source import collector_paused
from carob.schema import Case, DatasetUse, Finding, Json, LintedFile, Severity

SILENCE = "lint_ignore"
"""The key of a case's metadata that names the rules it does not want."""


class Settings(NamedTuple):
    """What a user wants of the rules."""

    ignore: frozenset[str] = frozenset()
    """The ids of rules that are not checked."""
    levels: Mapping[str, Severity] = {}
    """Other levels than the rules' own, by id."""
    use: DatasetUse | None = None


_DEFAULT = Settings()


def lint(
    path: FilePath,
    formats: Sequence[Format],
    *,
    name: str | None = None,
    settings: Settings = _DEFAULT,
    fix: bool = False,
) -> LintedFile:
    """What is wrong with a golden file; with `fix`, what is left after masking it."""
    masked = 0
    if fix:
        opened = open_golden(path, formats, name)
        with collector_paused():
            fixing = Fix(opened, [*_items(opened)], settings.ignore)
        fixing.write()
        masked = fixing.count
    with collector_paused():
        opened = open_golden(path, formats, name)
        cases, found = _check(opened, settings)
        findings = _placed(opened, found, settings)
    return LintedFile(
        path=str(path),
        format=opened.format.name,
        cases=cases,
        findings=tuple(findings),
        masked=masked if fix else UNSET,
    )


def _checks(settings: Settings) -> list[Check]:
    checks: tuple[Check, ...] = (
        Privacy(),
        Duplicates(),
        NearDuplicates(),
        UndeclaredTools(),
        InconsistentTags(),
        Coverage(),
        Size(settings.use),
        Expectations(),
        UnsupportedAnswers(),
        Typos(),
    )
    return [check for check in checks if not {*check.rules} - {"K001"} <= settings.ignore]


def _check(opened: Opened, settings: Settings) -> tuple[int, list[Found]]:
    checks = _checks(settings)
    cases = 0
    found: list[Found] = []
    for item in _items(opened):
        cases += 1
        found.extend(_unknown_rules(item))
        for check in checks:
            found.extend(check.see(item))
    head = opened.format.header(opened.container, opened.source.stem).get(opened.frame)
    for check in checks:
        found.extend(check.end(head, cases))
    return cases, found


def _items(opened: Opened) -> Iterator[Item]:
    aside = read_aside(opened.source.path) if opened.container != "document" else Aside()
    key = list_key(opened.source.document, opened.format.items_keys)
    rows = zip(read_cases(opened, aside), opened.items(), strict=True)
    for index, (case, row) in enumerate(rows):
        whole = row.value is opened.source.document
        base: Path = () if whole else (index,) if key is None else (key, index)
        rules = [find_rule(name) for name in _silenced(case)]
        place = Place(
            case.id,
            base if opened.container == "document" else (),
            row.line if opened.container != "document" else None,
            frozenset(rule.id for rule in rules if rule),
        )
        yield Item(case, row.value, place)


def _silenced(case: Case) -> list[str]:
    named = case.metadata.get(SILENCE)
    listed: list[Json] = named if isinstance(named, list) else [named]
    return [name for name in listed if isinstance(name, str)]


def _unknown_rules(item: Item) -> Iterator[Found]:
    for name in _silenced(item.case):
        if find_rule(name) is None:
            yield Found("K002", item.place, f"{SILENCE!r} names no rule {name!r}", meant_rule(name))


def _placed(opened: Opened, found: list[Found], settings: Settings) -> list[Finding]:
    """The findings that nobody silenced, by line."""
    kept = [
        one
        for one in found
        if one.rule not in settings.ignore and one.rule not in one.place.silenced
    ]
    wheres = [_path_text((*one.place.base, *one.path)) for one in kept]
    document = opened.container == "document"
    lines = locate.lines(opened.source.data, {*wheres}) if document else {}
    findings = [
        _finding(one, where, lines.get(where) if document else one.place.line, settings)
        for one, where in zip(kept, wheres, strict=True)
    ]
    return sorted(findings, key=lambda one: (one.case is None, one.line or 0, one.rule))


_LEVELS: dict[str, Severity] = {rule.id: rule.level for rule in RULES}


def _finding(one: Found, where: str, line: int | None, settings: Settings) -> Finding:
    where = hidden(where)
    whole = one.place.case is None and where == "$"
    return Finding(
        rule=one.rule,
        level=settings.levels.get(one.rule, _LEVELS[one.rule]),
        case=one.place.case,
        where="" if whole else f"line {line} {where}" if line else where,
        message=one.message,
        hint=one.hint,
        line=None if whole else line,
        offset=one.span[0] if one.span else UNSET,
        length=one.span[1] if one.span else UNSET,
    )


def _path_text(path: Path) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
