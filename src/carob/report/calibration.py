"""What a calibration found, as text for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.report.text import columns, count, printable, shortened
from carob.schema import (
    Agreement,
    Calibration,
    ConfusionMatrix,
    Disagreement,
    LabelValue,
    Statistic,
)
from carob.schema.outcome import Scale

_SHOWN = 5
_WIDTH = 200


def text(made: Calibration, min_kappa: float) -> str:
    """A sentence, the verdict, the table of who said what, then what is behind it."""
    parts = (
        _verdict(made, min_kappa),
        _table(made.agreement.confusion),
        _about(made),
        _worst(made),
    )
    blocks = ["\n".join(printable(line) for line in lines) for part in parts if (lines := [*part])]
    return "\n\n".join(blocks) + "\n"


def sentence(made: Calibration) -> str:
    """The whole in one sentence."""
    by = f" by {made.metric.judge.model}" if made.metric.judge else ""
    return f"{made.metric.name}{by} agrees with people in {_agreement(made.agreement)}"


def _verdict(made: Calibration, least: float) -> Iterator[str]:
    yield sentence(made)
    kappa = made.agreement.kappa
    if kappa is None:
        yield "not calibrated: people gave all cases the same label; label cases of other kinds too"
    elif kappa.interval[0] >= least:
        yield f"calibrated: the lower end of kappa is not below {least:g}"
    elif kappa.value >= least:
        yield f"not calibrated: the lower end of kappa is below {least:g}; more labels may raise it"
    else:
        yield f"not calibrated: kappa is below {least:g}"


def _agreement(one: Agreement) -> str:
    same = one.share.value * one.cases
    share = f"{_number(round(same, 2))} of {count(one.cases, 'case')}"
    return f"{share}; kappa {_measured(one.kappa) if one.kappa else 'is not defined'}"


def _measured(one: Statistic) -> str:
    low, high = one.interval
    return f"{one.value:.2f}, 95 % interval {low:.2f} to {high:.2f}"


def _table(found: ConfusionMatrix) -> Iterator[str]:
    names = [_opinion(one) for one in found.categories]
    rows = [
        [f"people: {name}", *(_number(round(cases, 2)) for cases in row)]
        for name, row in zip(names, found.counts, strict=True)
    ]
    return columns([["", *(f"judge: {name}" for name in names)], *rows])


def _about(made: Calibration) -> Iterator[str]:
    if made.bias:
        yield _bias(made, made.bias)
    if made.agreement.kind == "verdicts":
        yield _passes(made.agreement.confusion)
    if made.verdicts:
        passing = f"at the threshold {made.metric.threshold:g}"
        yield f"pass and fail {passing}: the same in {_agreement(made.verdicts)}"
    if made.people:
        yield f"people agree with each other in {_agreement(made.people)}"
    yield from _left_out(made)


def _bias(made: Calibration, bias: Statistic) -> str:
    low, high = bias.interval
    side = "more" if bias.value >= 0 else "less"
    return (
        f"the judge gives {abs(bias.value):.2g} {side} than people, 95 % interval"
        f" {low:+.2g} to {high:+.2g}, on a scale {_scale(made.metric.scale)}"
    )


def _scale(scale: Scale) -> str:
    low, high = scale
    return f"from {low:g} on" if high is None else f"from {low:g} to {high:g}"


def _passes(found: ConfusionMatrix) -> str:
    judge, people = sum(row[1] for row in found.counts), sum(found.counts[1])
    return f"the judge passes {_number(round(judge, 2))}, people pass {_number(round(people, 2))}"


def _left_out(made: Calibration) -> Iterator[str]:
    for cases, why in (
        (made.unjudged.unscored, "the judge did not score"),
        (made.unjudged.failed, "the judge failed at"),
        (made.unjudged.absent, "the run has no answer to"),
        (made.undecided, "people are at odds about"),
    ):
        if cases:
            yield f"left out, as {why} {'it' if len(cases) == 1 else 'them'}: {_listed(cases)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def _worst(made: Calibration) -> Iterator[str]:
    for one in made.disagreements[:_SHOWN]:
        yield f"{_name(one)}: people say {_opinion(one.human)}, the judge {_said(one)}"
        yield from (f"  judge: {shortened(one.reason, _WIDTH)}",) if one.reason else ()
        yield from (f"  people: {shortened(one.note, _WIDTH)}",) if one.note else ()
    if len(made.disagreements) > _SHOWN:
        number = len(made.disagreements) - _SHOWN
        yield f"and {number:,} more that they do not agree on; --format json has them"


def _name(one: Disagreement) -> str:
    return one.case if one.trace is None else f"{one.case} ({one.trace})"


def _said(one: Disagreement) -> str:
    rounded = one.judge if isinstance(one.judge, str) else None
    return f"{rounded}, with {_number(one.value)}" if rounded else _number(one.value)


def _opinion(one: LabelValue) -> str:
    return one if isinstance(one, str) else _number(one)


def _number(value: float) -> str:
    return f"{value:,.12g}" if float(value).is_integer() else f"{value:.4g}"
