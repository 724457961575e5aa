"""Two runs side by side, as text for a person and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from carob.report import comparison
from carob.report.text import (
    columns,
    count,
    flat,
    markdown_cell,
    markdown_table,
    printable,
    shortened,
)
from carob.schema import (
    Alignment,
    ComparedRun,
    Comparison,
    FlakyCase,
    Flip,
    FlippedTurn,
    GateResult,
    InputChange,
    MetricComparison,
    Reliability,
)

_SHOWN = 10
_HEAD = ["metric", "cases", "before", "after", "difference", "interval", "p", "verdict"]


def format_comparison(made: Comparison) -> str:
    """The verdict, a line of numbers and a sentence for each metric, then what is behind them."""
    return "\n".join(printable(line) for line in _lines(made)) + "\n"


def _lines(made: Comparison) -> Iterator[str]:
    yield f"{made.verdict}: {made.sentence}"
    yield f"before {_run(made.before)}"
    yield f"after  {_run(made.after)}"
    yield from ("", *columns([_HEAD, *map(_row, compared_metrics(made))]))
    yield from ("", *(f"{one.name}: {one.sentence}" for one in compared_metrics(made)))
    behind = [*comparison_details(made)]
    yield from ("", *behind) if behind else ()


def comparison_details(made: Comparison) -> Iterator[str]:
    """What is behind the verdict: what moved, which cases flipped, what repeats say."""
    parts = (
        changed_inputs(made),
        _flips(made.flips),
        _repeats(made.reliability),
        _flaky(made.flaky),
    )
    shown = [lines for part in parts if (lines := [*part])]
    for place, lines in enumerate(shown):
        yield from lines if place == 0 else ["", *lines]


def format_comparison_markdown(made: Comparison) -> str:
    """For a comment on a change: the verdict, a table of metrics, what moved, and what flipped."""
    parts = [
        f"### {made.verdict}: {markdown_cell(made.sentence)}",
        "",
        *markdown_table(_HEAD, map(_row, compared_metrics(made))),
    ]
    if others := [[one] for one in changed_inputs(made)]:
        parts += ["", *markdown_table(["not the same in both runs"], others)]
    if made.flips:
        rows = map(_flip_row, made.flips[:_SHOWN])
        parts += [
            "",
            *markdown_table(["case", "before", "after", "why"], rows),
            *_more(len(made.flips)),
        ]
    return "\n".join(parts) + "\n"


def _run(one: ComparedRun) -> str:
    if one.dataset is None:
        return one.id
    version = f"@{one.dataset.version}" if one.dataset.version else ""
    return f"{one.id}, {one.dataset.name}{version}"


def compared_metrics(made: Comparison) -> list[MetricComparison]:
    """The pass rate, then the metrics."""
    return [*([made.overall] if made.overall else []), *made.metrics]


def _row(one: MetricComparison) -> list[str]:
    name = one.name if one.held else f"{one.name} (informs)"
    found = one.difference
    if found is None or one.before is None or one.after is None:
        return [name, "0", "–", "–", "–", "–", "–", one.verdict]
    return [
        name,
        f"{one.cases:,}",
        _number(one.before.value),
        _number(one.after.value),
        signed_number(found.value),
        f"{signed_number(found.interval[0])} to {signed_number(found.interval[1])}",
        _probability(found.adjusted_p),
        one.verdict,
    ]


def changed_inputs(made: Comparison) -> Iterator[str]:
    """What is not the same in both runs, and what that does to the comparison."""
    yield from map(_move, made.moved)
    yield from _cases(made.cases)


def _move(one: InputChange) -> str:
    if one.what == "metric" and one.field == "uses":
        uses = f"used {_times(one.before)} before, {_times(one.after)} after"
        return f"metric {one.name}, {uses}: {one.effect}"
    change = f"{shortened(str(one.before), 40)} → {shortened(str(one.after), 40)}"
    counted = one.what == one.field
    about = f"{one.what} of {one.name}" if counted else f"{one.what} {one.name}, {one.field}"
    return f"{about}: {change}; {one.effect}"


def _times(number: object) -> str:
    return "once" if number == 1 else "not" if number == 0 else f"{number} times"


def _cases(cases: Alignment) -> Iterator[str]:
    for names, what in (
        (cases.added, "only after"),
        (cases.removed, "only before"),
        (cases.changed, "changed, not compared"),
    ):
        if names:
            yield f"{count(len(names), 'case')} {what}: {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _flips(found: Sequence[Flip]) -> Iterator[str]:
    for flip in sorted(found, key=lambda one: one.kind)[:_SHOWN]:
        yield f"{flip.kind} {flat(flip.case)}"
        for score in flip.scores:
            yield f"  {score.metric} {_number(score.before)} → {_number(score.after)}"
            yield from (f"    {line}" for line in score.reason.splitlines())
        yield from _turns(flip)
    yield from _more(len(found))


def _turns(flip: Flip) -> Iterator[str]:
    for place, turn in enumerate(flip.turns, 1):
        if turn.expected is not None and {turn.before, turn.after} - {turn.expected, None}:
            yield f"  turn {place}: {shortened(turn.user or '(no message recorded)')}"
            yield f"    expected  {shortened(turn.expected)}"
            yield from _sides(flip, turn)


def _sides(flip: Flip, turn: FlippedTurn) -> Iterator[str]:
    for name, status, said in (
        ("before", flip.before, turn.before),
        ("after ", flip.after, turn.after),
    ):
        missing = "(passed)" if status == "passed" else "(not recorded)"
        yield f"    {name}    {missing if said is None else shortened(said)}"


def _more(number: int) -> Iterator[str]:
    if number > _SHOWN:
        yield f"and {number - _SHOWN:,} more that flipped; all are in --format json"


def _repeats(found: Iterable[Reliability]) -> Iterator[str]:
    rows = [
        [f"{one.k}", f"{one.cases:,}", *map(_number, (*one.any_passes, *one.all_pass))]
        for one in found
    ]
    if rows:
        head = ["attempts k", "cases", "pass@k before", "after", "pass^k before", "after"]
        yield from columns([head, *rows])


def _flaky(found: Sequence[FlakyCase]) -> Iterator[str]:
    for one in found[:_SHOWN]:
        before, after = (f"{side.passed} of {side.total}" for side in (one.before, one.after))
        yield f"flaky {flat(one.case)}: passed {before} before, {after} after"
    if len(found) > _SHOWN:
        yield f"and {len(found) - _SHOWN:,} more that are flaky; all are in --format json"


def _flip_row(flip: Flip) -> list[str]:
    why = "; ".join(f"{one.metric}: {one.reason}" for one in flip.scores if one.reason)
    return [flip.case, flip.before, flip.after, shortened(why, 200)]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def signed_number(value: float) -> str:
    """A difference, with a minus sign and not a hyphen."""
    return f"{'−' if value < 0 else '+'}{_number(abs(value))}" if value else "0"


def _probability(p: float) -> str:
    return "<0.0001" if p < 0.0001 else f"{p:.2g}"


def format_gate(made: GateResult) -> str:
    """The answer, every check with its reason, then the comparison behind them."""
    return "\n".join(printable(line) for line in _gate_lines(made)) + "\n"


def format_gate_markdown(made: GateResult) -> str:
    """For a comment on a change."""
    checks = [[one.status, one.name, one.message] for one in made.checks]
    parts = [f"### {_headline(made)}", "", *markdown_table(["check", "of", "why"], checks)]
    parts += (
        ["", *(f"- {markdown_cell(line)}" for line in _quarantine(made))]
        if made.quarantined
        else []
    )
    if made.comparison:
        parts += ["", comparison.format_comparison_markdown(made.comparison).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _gate_lines(made: GateResult) -> Iterator[str]:
    yield _headline(made)
    yield ""
    for one in made.checks:
        yield f"{one.status}  {one.name}: {one.message}"
    yield from _quarantine(made)
    if made.comparison:
        behind = [*comparison.comparison_details(made.comparison)]
        yield from ("", *behind) if behind else ()


def _headline(made: GateResult) -> str:
    against = f" against {made.baseline}" if made.baseline else ""
    failed = sum(one.status == "failed" for one in made.checks)
    unsure = sum(one.status == "inconclusive" for one in made.checks)
    parts = [count(len(made.checks), "check")]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{unsure} inconclusive"] if unsure else []
    verdict = "passed" if made.passed else "failed"
    return f"{verdict}: {made.run}{against} ({', '.join(parts)})"


def _quarantine(made: GateResult) -> Iterator[str]:
    for one in made.quarantined:
        yield f"in quarantine  {flat(one.case)}, until {one.expires}, {one.owner}: {one.reason}"
