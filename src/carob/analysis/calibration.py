"""A judge beside people. How sound the numbers are, is in docs/design/calibration.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

from carob.analysis.consensus import consensus
from carob.analysis.interval import spread
from carob.analysis.kappa import LEVEL, measures
from carob.analysis.looked_at import LookedAt, looked_at
from carob.analysis.views import Levels, View, by_threshold, suited
from carob.errors import RefusedError
from carob.schema import (
    Agreement,
    Calibration,
    Confusion,
    Disagreement,
    Label,
    Measured,
    MetricUse,
    Opinion,
    Run,
    Unjudged,
)
from carob.schema.digest import labels_digest

_WORST = 50
_DIGITS = 6


class _Pair(NamedTuple):
    """What people and the judge say of one answer."""

    seen: LookedAt
    human: Opinion
    value: float
    reason: str


def calibrate(run: Run, use: MetricUse, labels: Sequence[Label], created_at: str) -> Calibration:
    """Compare the scores of one metric with what people say of the same answers."""
    view = suited(use, labels)
    seen = looked_at(run, use.name, labels)
    pairs, undecided = _pairs(seen, view)
    if not pairs:
        hint = "people are at odds about every answer that the judge scored"
        raise RefusedError("nothing is left to compare the judge with", hint=hint)
    besides = by_threshold(use) if isinstance(view, Levels) else None
    return Calibration(
        created_at=created_at,
        metric=use,
        run=run.id,
        dataset=run.dataset,
        labels=labels_digest(labels),
        agreement=_agreement(view, pairs),
        verdicts=_agreement(besides, pairs) if besides else None,
        people=_among_people(view, seen),
        bias=_bias(pairs, use),
        unjudged=_unjudged(seen),
        undecided=undecided,
        disagreements=tuple(_disagreements(view, pairs)),
    )


def _pairs(seen: Sequence[LookedAt], view: View) -> tuple[list[_Pair], tuple[str, ...]]:
    """The answers that both have an opinion of, and the cases that people are at odds about."""
    pairs: list[_Pair] = []
    undecided: list[str] = []
    for one in seen:
        human = consensus([label.label for label in one.labels], whole=isinstance(view, Levels))
        if human is None:
            undecided.append(one.case)
        elif one.score and one.score.value is not None:
            pairs.append(_Pair(one, human, one.score.value, one.score.reason))
    return pairs, tuple(dict.fromkeys(undecided))


class _Told(NamedTuple):
    """What the one says and what the other says, and how much that counts."""

    left: Opinion
    right: Opinion
    weight: float


def _agreement(view: View, pairs: Sequence[_Pair]) -> Agreement:
    attempts = Counter(pair.seen.case for pair in pairs)
    told = (
        _Told(view.of(one.human), view.of(one.value), 1 / attempts[one.seen.case]) for one in pairs
    )
    return _counted(view, len(attempts), told)


def _among_people(view: View, seen: Sequence[LookedAt]) -> Agreement | None:
    several = [one for one in seen if len(one.labels) > 1]
    attempts = Counter(one.case for one in several)
    told = (
        one._replace(weight=one.weight / attempts[looked.case])
        for looked in several
        for one in _each_other(view, looked)
    )
    return _counted(view, len(attempts), told) if several else None


def _each_other(view: View, looked: LookedAt) -> Iterator[_Told]:
    """Every two people who labelled an answer, in both orders, as nobody comes first."""
    number = len(looked.labels)
    counts: Counter[Opinion] = Counter(view.of(label.label) for label in looked.labels)
    for left, times in counts.items():
        for right, others in counts.items():
            both = times * (others - (left == right))
            yield _Told(left, right, both / (number * (number - 1)))


def _counted(view: View, cases: int, told: Iterable[_Told]) -> Agreement:
    """The table of who said what; a case counts once, however many attempts at it there are."""
    cells: defaultdict[tuple[Opinion, Opinion], list[float]] = defaultdict(list)
    for left, right, weight in told:
        cells[left, right].append(weight)
    counts = tuple(
        tuple(round(fsum(cells[left, right]), _DIGITS) for right in view.categories)
        for left in view.categories
    )
    share, kappa = measures(counts)
    return Agreement(
        kind=view.kind,
        cases=cases,
        share=share,
        kappa=kappa,
        confusion=Confusion(categories=view.categories, counts=counts),
    )


def _bias(pairs: Sequence[_Pair], use: MetricUse) -> Measured | None:
    """The mean of judge minus people over cases, if people gave numbers."""
    off: defaultdict[str, list[float]] = defaultdict(list)
    for one in pairs:
        if not isinstance(one.human, str):
            off[one.seen.case].append(one.value - one.human)
    if not off:
        return None
    low, high = use.scale
    values = [fsum(some) / len(some) for some in off.values()]
    found = spread(values, 1.0 if high is None else high - low)
    ends = found.interval(LEVEL)
    return Measured(
        value=round(found.mean, _DIGITS),
        interval=(round(ends[0], _DIGITS), round(ends[1], _DIGITS)),
    )


def _unjudged(seen: Iterable[LookedAt]) -> Unjudged:
    found: dict[str, dict[str, None]] = {"absent": {}, "failed": {}, "unscored": {}}
    for one in seen:
        if one.score is None:
            found["absent"][one.case] = None
        elif one.score.value is None:
            found["failed" if one.score.status == "error" else "unscored"][one.case] = None
    return Unjudged(**{name: tuple(cases) for name, cases in found.items()})


def _disagreements(view: View, pairs: Sequence[_Pair]) -> Iterator[Disagreement]:
    apart = [one for one in pairs if view.of(one.human) != view.of(one.value)]
    for one in sorted(apart, key=lambda pair: -view.distance(pair.human, pair.value))[:_WORST]:
        notes = [label.note for label in one.seen.labels if label.note]
        yield Disagreement(
            case=one.seen.case,
            trace=one.seen.trace,
            human=view.of(one.human),
            judge=view.of(one.value),
            value=one.value,
            reason=one.reason,
            note="; ".join(dict.fromkeys(notes)),
        )
