"""A judge calibration as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.report.layout import PLAIN, Block, Display, TextTable, join_lines, line, status
from carob.report.text import count, name_list, shortened
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


def format_calibration(calibration: Calibration, min_kappa: float, display: Display = PLAIN) -> str:
    """Return the agreement and the verdict, the confusion matrix, then the details."""
    parts: tuple[Iterable[Block], ...] = (
        _verdict(calibration, min_kappa),
        [_matrix(calibration.agreement.confusion)],
        _details(calibration),
        _disagreements(calibration),
    )
    texts = [join_lines(lines, display) for part in parts if (lines := [*part])]
    return "\n".join(texts)


def agreement_sentence(calibration: Calibration) -> str:
    """Return the agreement of the judge with humans in one sentence."""
    judge = calibration.metric.judge
    name = f"{calibration.metric.name} ({judge.model})" if judge else calibration.metric.name
    return f"{name} agrees with humans on {_agreement(calibration.agreement)}"


def _verdict(calibration: Calibration, min_kappa: float) -> Iterator[Block]:
    yield agreement_sentence(calibration)
    kappa = calibration.agreement.kappa
    if kappa and kappa.interval[0] >= min_kappa:
        yield line(status("calibrated"), f": the lower bound of kappa reaches {min_kappa:g}")
    elif kappa is None:
        reason = "all labels are the same; label cases of other kinds too"
        yield line(status("not calibrated"), f": {reason}")
    elif kappa.value >= min_kappa:
        reason = f"the lower bound of kappa is below {min_kappa:g}; add more labels"
        yield line(status("not calibrated"), f": {reason}")
    else:
        yield line(status("not calibrated"), f": kappa is below {min_kappa:g}")


def _agreement(agreement: Agreement) -> str:
    agreed = _number(round(agreement.share.value * agreement.cases, 2))
    kappa = f"kappa {_statistic(agreement.kappa)}" if agreement.kappa else "kappa is undefined"
    return f"{agreed} of {count(agreement.cases, 'case')}; {kappa}"


def _statistic(statistic: Statistic) -> str:
    low, high = statistic.interval
    return f"{statistic.value:.2f} (95% CI {low:.2f} to {high:.2f})"


def _matrix(confusion: ConfusionMatrix) -> TextTable:
    names = [_label(category) for category in confusion.categories]
    rows = [
        [f"human: {name}", *(_number(round(cases, 2)) for cases in row)]
        for name, row in zip(names, confusion.counts, strict=True)
    ]
    return TextTable([["", *(f"judge: {name}" for name in names)], *rows])


def _details(calibration: Calibration) -> Iterator[str]:
    if calibration.bias:
        yield _bias(calibration, calibration.bias)
    if calibration.agreement.kind == "verdicts":
        yield _passes(calibration.agreement.confusion)
    if calibration.verdicts:
        threshold = f"{calibration.metric.threshold:g}"
        yield f"at threshold {threshold}, verdicts agree on {_agreement(calibration.verdicts)}"
    if calibration.people:
        yield f"humans agree with each other on {_agreement(calibration.people)}"
    yield from _format_excluded(calibration)


def _bias(calibration: Calibration, bias: Statistic) -> str:
    low, high = bias.interval
    side = "higher" if bias.value >= 0 else "lower"
    return (
        f"bias: the judge scores {abs(bias.value):.2g} {side} than humans"
        f" (95% CI {low:+.2g} to {high:+.2g}, scale {_scale(calibration.metric.scale)})"
    )


def _scale(scale: Scale) -> str:
    low, high = scale
    return f"from {low:g}" if high is None else f"{low:g} to {high:g}"


def _passes(confusion: ConfusionMatrix) -> str:
    judge, humans = sum(row[1] for row in confusion.counts), sum(confusion.counts[1])
    return f"the judge passes {_number(round(judge, 2))}, humans pass {_number(round(humans, 2))}"


def _format_excluded(calibration: Calibration) -> Iterator[str]:
    for cases, reason in (
        (calibration.unjudged.unscored, "not scored by the judge"),
        (calibration.unjudged.failed, "judge error"),
        (calibration.unjudged.absent, "not in the run"),
        (calibration.undecided, "humans disagree"),
    ):
        if cases:
            yield f"excluded ({reason}): {name_list(cases, _SHOWN)}"


def _disagreements(calibration: Calibration) -> Iterator[str]:
    for case in calibration.disagreements[:_SHOWN]:
        yield f"{_case_name(case)}: humans say {_label(case.human)}, the judge {_judge_label(case)}"
        yield from (f"  judge: {shortened(case.reason, _WIDTH)}",) if case.reason else ()
        yield from (f"  human: {shortened(case.note, _WIDTH)}",) if case.note else ()
    if len(calibration.disagreements) > _SHOWN:
        number = len(calibration.disagreements) - _SHOWN
        yield f"and {count(number, 'more disagreement')}; use --format json to list all"


def _case_name(case: Disagreement) -> str:
    return case.case if case.trace is None else f"{case.case} ({case.trace})"


def _judge_label(case: Disagreement) -> str:
    if isinstance(case.judge, str):
        return f"{case.judge} (score {_number(case.value)})"
    return _number(case.value)


def _label(label: LabelValue) -> str:
    return label if isinstance(label, str) else _number(label)


def _number(value: float) -> str:
    return f"{value:,.12g}" if float(value).is_integer() else f"{value:.4g}"
