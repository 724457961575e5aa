"""Findings in golden data, for people and for code hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import UNSET

from carob.report.sarif import SarifResult, SarifRule, sarif
from carob.report.text import count, printable
from carob.schema import Finding, LintedFile, LintRule

_SHOWN = 200


def text(files: Iterable[LintedFile], rules: Iterable[LintRule]) -> str:
    """Each file with its findings."""
    names = {rule.id: rule.name for rule in rules}
    return "".join(f"{printable(line)}\n" for file in files for line in _file(file, names))


def _file(file: LintedFile, names: dict[str, str]) -> Iterator[str]:
    counts = Counter(finding.level for finding in file.findings)
    levels = [
        count(counts[level], level) for level in ("error", "warning", "note") if counts[level]
    ]
    masked = [] if file.masked is UNSET else [f"{count(file.masked, 'text')} masked"]
    found = ", ".join([*levels, *masked]) or "nothing found"
    yield f"{file.path}: {found} ({file.format}, {count(file.cases, 'case')})"
    for finding in file.findings[:_SHOWN]:
        yield from _finding(finding, names)
    if len(file.findings) > _SHOWN:
        more = count(len(file.findings) - _SHOWN, "more finding")
        yield f"  and {more}; all are in --format json"


def _finding(finding: Finding, names: dict[str, str]) -> Iterator[str]:
    place = f"{finding.where}: " if finding.where else ""
    case = f"case {finding.case!r}: " if finding.case is not None else ""
    name = f"{finding.rule} {names[finding.rule]}"
    yield f"  {finding.level}: {place}{case}{finding.message} [{name}]"
    if finding.hint:
        yield f"    hint: {finding.hint}"


def as_sarif(files: Iterable[LintedFile], rules: Iterable[LintRule]) -> str:
    """The findings at their lines in the golden files."""
    listed = [SarifRule(rule.id, rule.name, rule.level, rule.summary) for rule in rules]
    return sarif(listed, (_result(file, one) for file in files for one in file.findings))


def _result(file: LintedFile, finding: Finding) -> SarifResult:
    case = f"Case {finding.case!r}: " if finding.case is not None else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    where = finding.where.partition(" ")[2] if finding.line else finding.where
    return SarifResult(
        rule=finding.rule,
        level=finding.level,
        message=printable(f"{case}{finding.message}{hint}"),
        path=file.path,
        line=finding.line,
        key="\0".join((finding.case or "", where.partition("$")[2], finding.message)),
    )
