"""Golden data as text: validations, summaries, conversions and lint findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import UNSET

from carob.report.sarif import SarifResult, SarifRule, sarif
from carob.report.text import count, flat, join_lines, printable
from carob.schema import (
    Conversion,
    DatasetSummary,
    Finding,
    LintedFile,
    LintRule,
    Loss,
    Problem,
    Severity,
    Validation,
)

_SHOWN = 20
_SHOWN_FINDINGS = 200
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def format_validations(validations: Iterable[Validation]) -> str:
    """List each file with its verdict, then its problems."""
    return "".join(f"{line}\n" for validation in validations for line in _validation(validation))


def _validation(validation: Validation) -> Iterator[str]:
    content = "unknown format"
    if validation.format:
        content = f"{validation.format}, {count(validation.cases, 'case')}"
    verdict = "valid" if validation.valid else "not valid"
    counts = Counter(problem.severity for problem in validation.problems)
    levels = "".join(f", {count(counts[level], level)}" for level in _SEVERITIES if counts[level])
    yield printable(f"{validation.path}: {verdict} ({content}{levels})")
    for problem in validation.problems:
        yield from _problem(problem)


def _problem(problem: Problem) -> Iterator[str]:
    where = f"{problem.where}: " if problem.where else ""
    yield printable(f"  {problem.severity}: {where}{problem.message}")
    if problem.hint:
        first, *others = problem.hint.splitlines()
        yield printable(f"    hint: {first}")
        yield from (printable(f"    {line}") for line in others)


def format_summary(summary: DatasetSummary) -> str:
    """Show what a dataset consists of."""
    version = f" {summary.version}" if summary.version else ""
    facts = {
        "format": summary.format or "none",
        "cases": str(summary.cases),
        "with context": str(summary.with_context),
        "with recorded answer": str(summary.with_recorded_answer),
        "turns": f"{summary.turns}, {count(summary.multi_turn, 'multi-turn case')}",
        "tags": _counted(summary.tags),
        "tools": _counted(summary.tools),
        "agents": _counted(summary.agents),
        "metadata": _counted(summary.metadata),
    }
    width = max(map(len, facts))
    rows = (printable(f"  {name:<{width}}  {value}") for name, value in facts.items())
    return "\n".join([flat(f"{summary.name}{version}"), *rows]) + "\n"


def _counted(counts: dict[str, int]) -> str:
    shown = [f"{flat(name)} ({number})" for name, number in list(counts.items())[:_SHOWN]]
    more = [f"and {len(counts) - _SHOWN} more"] if len(counts) > _SHOWN else []
    return ", ".join(shown + more) or "none"


def format_subset(path: Path, summary: DatasetSummary) -> str:
    """Say how many cases were written, and where."""
    return printable(f"{count(summary.cases, 'case')} written to {path}") + "\n"


def format_conversion(conversion: Conversion) -> str:
    """Say what was converted, and list by case the fields without an equivalent."""
    lines = [f"{conversion.source} → {conversion.target}: {count(conversion.cases, 'case')}"]
    if not conversion.losses:
        lines.append("no fields lost")
    else:
        outcome = "preserved for round-tripping" if conversion.carried else "lost"
        lines.append(
            f"{fields_without_equivalent(conversion.losses, conversion.target)}; {outcome}:"
        )
        lines.extend(_losses(conversion.losses))
    return join_lines(lines)


def fields_without_equivalent(losses: tuple[Loss, ...], target: str) -> str:
    """Count the fields that the target format cannot hold."""
    verb = "has" if len(losses) == 1 else "have"
    return f"{count(len(losses), 'field')} {verb} no equivalent in {target}"


def _losses(losses: tuple[Loss, ...]) -> Iterator[str]:
    by_case: dict[str | None, list[str]] = {}
    for loss in losses:
        by_case.setdefault(loss.case, []).append(loss.field)
    for case, fields in list(by_case.items())[:_SHOWN]:
        yield f"  {'dataset' if case is None else flat(case)}: {', '.join(fields)}"
    if len(by_case) > _SHOWN:
        yield f"  and {len(by_case) - _SHOWN} more cases; use --format json to list all"


def format_lint(files: Iterable[LintedFile], rules: Iterable[LintRule]) -> str:
    """List each file with its findings."""
    names = {rule.id: rule.name for rule in rules}
    return "".join(f"{printable(line)}\n" for file in files for line in _linted(file, names))


def _linted(file: LintedFile, names: dict[str, str]) -> Iterator[str]:
    counts = Counter(finding.level for finding in file.findings)
    levels = [count(counts[level], level) for level in _SEVERITIES if counts[level]]
    masked = [] if file.masked is UNSET else [f"{count(file.masked, 'text')} masked"]
    result = ", ".join([*levels, *masked]) or "no findings"
    yield f"{file.path}: {result} ({file.format}, {count(file.cases, 'case')})"
    for finding in file.findings[:_SHOWN_FINDINGS]:
        yield from _finding(finding, names)
    if len(file.findings) > _SHOWN_FINDINGS:
        more = count(len(file.findings) - _SHOWN_FINDINGS, "more finding")
        yield f"  and {more}; use --format json to list all"


def _finding(finding: Finding, names: dict[str, str]) -> Iterator[str]:
    place = f"{finding.where}: " if finding.where else ""
    case = f"case {finding.case!r}: " if finding.case is not None else ""
    name = f"{finding.rule} {names[finding.rule]}"
    yield f"  {finding.level}: {place}{case}{finding.message} [{name}]"
    if finding.hint:
        yield f"    hint: {finding.hint}"


def format_lint_sarif(files: Iterable[LintedFile], rules: Iterable[LintRule]) -> str:
    """Return the findings as SARIF, at their lines in the golden files."""
    listed = [SarifRule(rule.id, rule.name, rule.level, rule.summary) for rule in rules]
    return sarif(
        listed, (_sarif_result(file, finding) for file in files for finding in file.findings)
    )


def _sarif_result(file: LintedFile, finding: Finding) -> SarifResult:
    case = f"Case {finding.case!r}: " if finding.case is not None else ""
    hint = f" ({finding.hint})" if finding.hint else ""
    # The fingerprint must survive edits above the finding, so the line number is cut off.
    where = finding.where.partition(" ")[2] if finding.line else finding.where
    return SarifResult(
        rule=finding.rule,
        level=finding.level,
        message=printable(f"{case}{finding.message}{hint}"),
        path=file.path,
        line=finding.line,
        key="\0".join((finding.case or "", where.partition("$")[2], finding.message)),
    )
