"""Golden data as text: validations, summaries, conversions and lint findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import msgspec
from msgspec import UNSET

from carob.errors import install_hint
from carob.report.layout import PLAIN, Block, Display, Painted, TextTable, join_lines, line, status
from carob.report.problems import hint_lines, problem_lines
from carob.report.sarif import SarifResult, SarifRule, sarif
from carob.report.text import count, flat, name_list, printable
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
_SHOWN_GROUPS = 15
_REPEATED = 2
_POSITION = re.compile(r"line \d+ ?|\[\d+\]")
_INDEX = re.compile(r"\[\d+\]")
_SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


def format_validations(
    validations: Iterable[Validation], display: Display = PLAIN, *, every: bool = False
) -> str:
    """List each file with its verdict, then its problems: those that repeat once, and no more than
    a screenful, unless `every` problem is asked for."""
    blocks = (line for file in validations for line in _validation(file, every))
    return join_lines(blocks, display)


def _validation(validation: Validation, every: bool) -> Iterator[Block]:
    content = "unknown format"
    if validation.format:
        content = f"{validation.format}, {count(validation.cases, 'case')}"
    verdict = "valid" if validation.valid else "not valid"
    counts = Counter(problem.severity for problem in validation.problems)
    levels = "".join(f", {count(counts[level], level)}" for level in _SEVERITIES if counts[level])
    yield line(f"{validation.path}: ", status(verdict), f" ({content}{levels})")
    groups = [[problem] for problem in validation.problems] if every else _group(validation)
    shown = groups if every else groups[:_SHOWN_GROUPS]
    for problems in shown:
        yield from problem_lines(_summarise(problems, validation.cases), "  ")
    if len(shown) < len(groups):
        more = sum(map(len, groups[len(shown) :]))
        yield f"  and {count(more, 'more problem')}; use --all to list all"


def _group(validation: Validation) -> list[list[Problem]]:
    """The problems that differ only in the case, or in the value that was found."""
    groups: dict[tuple[str, ...], list[Problem]] = {}
    for problem in validation.problems:
        place = _POSITION.sub("", problem.where)
        what = problem.message.partition(", got ")[0]
        groups.setdefault((problem.severity, place, what), []).append(problem)
    # Three of a kind are a pattern; two may be two mistakes.
    parts = (
        [group] if len(group) > _REPEATED else [[p] for p in group] for group in groups.values()
    )
    return [group for part in parts for group in part]


def _summarise(problems: list[Problem], cases: int) -> Problem:
    """One problem for those of a group."""
    first = problems[0]
    if len(problems) == 1:
        return first
    what = first.message.partition(", got ")[0]
    # A document has the index of the case in its paths; the cases of other files are lines.
    indices = {index[0] for problem in problems if (index := _INDEX.search(problem.where))}
    number = len(indices) if len(indices) > 1 else len({problem.where for problem in problems})
    where = f"{number:,} of {count(cases, 'case')}" if number <= cases else f"{number:,} places"
    message = f"{what} in {where}, first at {first.where}"
    return Problem(where="", message=message, hint=first.hint, severity=first.severity)


def format_summaries(summaries: Iterable[DatasetSummary], display: Display = PLAIN) -> str:
    """Show what datasets consist of."""
    return "\n".join(format_summary(summary, display) for summary in summaries)


def format_summary(summary: DatasetSummary, display: Display = PLAIN) -> str:
    """Show what a dataset consists of."""
    version = f" {summary.version}" if summary.version else ""
    facts = {"description": summary.description} if summary.description else {}
    facts |= {"dataset tags": ", ".join(summary.dataset_tags)} if summary.dataset_tags else {}
    facts |= {
        "format": summary.format or "none",
        "cases": f"{summary.cases:,}",
        "with context": f"{summary.with_context:,}",
        "with recorded answer": f"{summary.with_recorded_answer:,}",
        "turns": f"{summary.turns:,}, {count(summary.multi_turn, 'multi-turn case')}",
        "tags": _format_counts(summary.tags),
        "tools": _format_counts(summary.tools),
        "agents": _format_counts(summary.agents),
        "metadata": _format_counts(summary.metadata),
    }
    title = Painted(flat(f"{summary.name}{version}"), "strong")
    table = TextTable([*facts.items()], left=(0, 1), indent=2, headed=False)
    return join_lines([title, table], display)


def _format_counts(counts: dict[str, int]) -> str:
    shown = [f"{flat(name)} ({number:,})" for name, number in list(counts.items())[:_SHOWN]]
    more = [f"and {len(counts) - _SHOWN:,} more"] if len(counts) > _SHOWN else []
    return ", ".join(shown + more) or "none"


def format_subset(path: Path, summary: DatasetSummary, display: Display = PLAIN) -> str:
    """Say how many cases were written, and where."""
    return join_lines([f"{count(summary.cases, 'case')} written to {path}"], display)


def format_conversion(conversion: Conversion, display: Display = PLAIN) -> str:
    """Say what was converted, and list by case the fields without an equivalent."""
    lines = [f"{conversion.source} → {conversion.target}: {count(conversion.cases, 'case')}"]
    if conversion.duplicates:
        names = name_list(conversion.duplicates, _SHOWN)
        lines.append(f"{count(len(conversion.duplicates), 'duplicate case')} skipped: {names}")
    outcome = "preserved for round-tripping" if conversion.carried else "lost"
    if not conversion.losses:
        lines.append("no fields lost")
    if conversion.omitted:
        lines.append(f"{count(len(conversion.omitted), 'case')} left out; {outcome}:")
        lines.extend(_format_omitted(conversion.omitted))
    if number := len(conversion.losses) - len(conversion.omitted):
        lines.append(f"{fields_without_equivalent(number, conversion.target)}; {outcome}:")
        lines.extend(_losses(loss for loss in conversion.losses if loss.field != "$"))
    lines.extend(f"note: {note}" for note in conversion.notes)
    return join_lines(lines, display)


def fields_without_equivalent(number: int, target: str) -> str:
    """State the number of fields that the target format cannot hold."""
    verb = "has" if number == 1 else "have"
    return f"{count(number, 'field')} {verb} no equivalent in {target}"


def _format_omitted(omitted: tuple[Loss, ...]) -> Iterator[str]:
    for loss in omitted[:_SHOWN]:
        yield f"  {flat(loss.case or '')}: {loss.reason.removeprefix('left out, ')}"
    if len(omitted) > _SHOWN:
        yield f"  and {len(omitted) - _SHOWN:,} more cases; use --format json to list all"


def _losses(losses: Iterable[Loss]) -> Iterator[str]:
    """The losses of the first cases; those of a case follow each other."""
    more = 0
    for number, (case, group) in enumerate(groupby(losses, key=lambda loss: loss.case)):
        if number >= _SHOWN:
            more += 1
            continue
        fields = ", ".join(loss.field for loss in group)
        yield f"  {'dataset' if case is None else flat(case)}: {fields}"
    if more:
        yield f"  and {more:,} more cases; use --format json to list all"


def format_lint(
    files: Iterable[LintedFile], rules: Iterable[LintRule], display: Display = PLAIN
) -> str:
    """List each file with its findings, then once what was not checked in any of them."""
    names = {rule.id: rule.name for rule in rules}
    listed = [*files]
    blocks = [line for file in listed for line in _format_linted(file, names)]
    return join_lines([*blocks, *_format_unchecked(listed, names)], display)


def _format_unchecked(files: Iterable[LintedFile], names: dict[str, str]) -> Iterator[Block]:
    """Say which packages are missing, with the one command that installs them: they are missing
    for every file alike."""
    missing = {
        finding.extra: finding
        for file in files
        for finding in file.findings
        if finding.extra is not UNSET
    }
    if missing:
        message = "; ".join(finding.message for finding in missing.values())
        first = next(iter(missing.values()))
        merged = msgspec.structs.replace(first, message=message, hint=install_hint(*missing))
        yield from _finding(merged, names, indent="")


def _format_linted(file: LintedFile, names: dict[str, str]) -> Iterator[Block]:
    findings = [finding for finding in file.findings if finding.extra is UNSET]
    counts = Counter(finding.level for finding in findings)
    levels = [count(counts[level], level) for level in _SEVERITIES if counts[level]]
    masked = [] if file.masked is UNSET else [f"{count(file.masked, 'text')} masked"]
    result = ", ".join([*levels, *masked]) or "no findings"
    yield f"{file.path}: {result} ({file.format}, {count(file.cases, 'case')})"
    for finding in findings[:_SHOWN_FINDINGS]:
        yield from _finding(finding, names)
    if len(findings) > _SHOWN_FINDINGS:
        more = count(len(findings) - _SHOWN_FINDINGS, "more finding")
        yield f"  and {more}; use --format json to list all"


def _finding(finding: Finding, names: dict[str, str], indent: str = "  ") -> Iterator[Block]:
    place = f"{finding.where}: " if finding.where else ""
    case = f"case {finding.case!r}: " if finding.case is not None else ""
    name = f"{finding.rule} {names[finding.rule]}"
    text = f": {place}{case}{finding.message} "
    yield line(indent, status(finding.level), text, Painted(f"[{name}]", "dim"))
    yield from hint_lines(finding.hint, f"{indent}  ")


def format_lint_sarif(files: Iterable[LintedFile], rules: Iterable[LintRule]) -> str:
    """Return the findings as SARIF, at their lines in the golden files."""
    listed = [SarifRule(rule.id, rule.name, rule.level, rule.summary) for rule in rules]
    return "".join(sarif(listed, _sarif_results(files)))


def _sarif_results(files: Iterable[LintedFile]) -> Iterator[SarifResult]:
    """Yield the findings; packages that are missing for every file alike only for the first."""
    missing: set[str] = set()
    for file in files:
        for finding in file.findings:
            if finding.extra is not UNSET:
                if finding.extra in missing:
                    continue
                missing.add(finding.extra)
            yield _sarif_result(file, finding)


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
