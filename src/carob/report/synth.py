"""Generated golden data as text: what was generated, and what it covers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.report.layout import PLAIN, Block, Display, Part, TextTable, join_lines
from carob.report.text import count, flat, number
from carob.schema.synth import Invariance, RelationInfo, SynthReport


def format_synth(report: SynthReport, file: str, display: Display = PLAIN) -> str:
    """Say how many cases were generated, why others were not, and what all cases cover."""
    return join_lines(_lines(report, file), display)


def _lines(report: SynthReport, file: str) -> Iterator[Block]:
    parents = f" from {count(report.parents, 'case')}" if report.parents else ""
    yield f"{file}: {count(report.cases, 'synthetic case')}{parents} ({report.format})"
    if report.skipped:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in report.skipped.items())
        yield f"not kept: {reasons}"
    if report.losses:
        yield f"{count(len(report.losses), 'field')} without an equivalent in the format; preserved"
    head: list[Part] = ["covers", "", "source", "synthetic", "quota"]
    rows: list[list[Part]] = [
        [row.by, flat(row.value), f"{row.source:,}", f"{row.synthetic:,}", _quota(row.quota)]
        for row in report.coverage
    ]
    yield from ("", TextTable([head, *rows], left=(0, 1)))


def _quota(quota: int | None) -> str:
    return "–" if quota is None else f"{quota:,}"


def format_relations(relations: Sequence[RelationInfo], display: Display = PLAIN) -> str:
    """List relations with what must hold for their variants."""
    head: list[Part] = ["relation", "holds", "what it does"]
    rows: list[list[Part]] = [[item.name, item.holds, item.summary] for item in relations]
    return join_lines([TextTable([head, *rows], left=(0, 1, 2))], display)


def format_invariance(result: Invariance, display: Display = PLAIN) -> str:
    """Show the share of variants that behave as their parents, by relation, and the others."""
    return join_lines(_invariance_lines(result), display)


def _invariance_lines(result: Invariance) -> Iterator[Block]:
    left_out = f", {result.left_out:,} without a verdict" if result.left_out else ""
    share = "–" if result.value is None else number(result.value)
    yield f"invariance {share}: {count(result.compared, 'variant')} compared{left_out}"
    head: list[Part] = ["relation", "compared", "equal", "without a verdict"]
    rows: list[list[Part]] = [
        [row.relation, f"{row.compared:,}", f"{row.equal:,}", f"{row.left_out:,}"]
        for row in result.relations
    ]
    if rows:
        yield from ("", TextTable([head, *rows]))
    if result.broken:
        title: list[Part] = ["variant", "relation", "parent", "variant"]
        broken: list[list[Part]] = [
            [flat(item.case), item.relation, item.expected, item.actual] for item in result.broken
        ]
        yield from ("", TextTable([title, *broken], left=(0, 1, 2, 3)))
