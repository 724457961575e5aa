"""Calibrate a judge: measure its agreement with human labels.

docs/design/calibration.md explains the method and how sound it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import fsum
from typing import NamedTuple

from carob.analysis.interval import paired_differences
from carob.analysis.kappa import LEVEL, measure_agreement
from carob.analysis.labelled_scores import LabelledAnswer, labelled_answers
from carob.analysis.rating_scale import LevelScale, RatingScale, choose_scale, pass_fail_scale
from carob.errors import EvaluationError
from carob.schema import (
    Agreement,
    Calibration,
    ConfusionMatrix,
    Disagreement,
    Label,
    LabelValue,
    MetricSpec,
    Run,
    Statistic,
    UnscoredLabels,
)
from carob.schema.digest import labels_digest

_MOST_DISAGREEMENTS = 50
_DIGITS = 6


class _RatedAnswer(NamedTuple):
    """The human label and the judge's score of one answer."""

    answer: LabelledAnswer
    human: LabelValue
    score: float
    reason: str


class _RatingPair(NamedTuple):
    """Two ratings of the same answer, and how much they count."""

    left: LabelValue
    right: LabelValue
    weight: float


def calibrate(run: Run, spec: MetricSpec, labels: Sequence[Label], created_at: str) -> Calibration:
    """Compare the scores of one metric with human labels of the same answers."""
    scale = choose_scale(spec, labels)
    answers = labelled_answers(run, spec.name, labels)
    rated, undecided = _rated_answers(answers, scale)
    if not rated:
        hint = "the labels of every answer that the judge scored are tied"
        raise EvaluationError("no label is left to compare the judge with", hint=hint)
    verdicts = pass_fail_scale(spec) if isinstance(scale, LevelScale) else None
    return Calibration(
        created_at=created_at,
        metric=spec,
        run=run.id,
        dataset=run.dataset,
        labels=labels_digest(labels),
        agreement=_judge_agreement(scale, rated),
        verdicts=_judge_agreement(verdicts, rated) if verdicts else None,
        people=_human_agreement(scale, answers),
        bias=_bias(rated, spec),
        unjudged=_unscored_labels(answers),
        undecided=undecided,
        disagreements=tuple(_disagreements(scale, rated)),
    )


def _rated_answers(
    answers: Sequence[LabelledAnswer], scale: RatingScale
) -> tuple[list[_RatedAnswer], tuple[str, ...]]:
    """The answers with a label and a score, and the cases whose labels are tied."""
    rated: list[_RatedAnswer] = []
    undecided: list[str] = []
    for answer in answers:
        values: list[LabelValue] = [label.label for label in answer.labels]
        human = consensus(values, whole=isinstance(scale, LevelScale))
        if human is None:
            undecided.append(answer.case)
        elif answer.score and answer.score.value is not None:
            rated.append(_RatedAnswer(answer, human, answer.score.value, answer.score.reason))
    return rated, tuple(dict.fromkeys(undecided))


def consensus(values: Sequence[LabelValue], *, whole: bool = False) -> LabelValue | None:
    """The majority of verdicts, or the median of numbers. `None` if the labels are tied: as many
    passed as failed, or the median is between two of the `whole` levels."""
    numbers = [value for value in values if not isinstance(value, str)]
    if numbers:
        from statistics import median  # late: a server may calibrate nothing

        middle = float(median(numbers))
        return None if whole and not middle.is_integer() else middle
    passed = values.count("passed")
    if 2 * passed == len(values):
        return None
    return "passed" if 2 * passed > len(values) else "failed"


def _judge_agreement(scale: RatingScale, rated: Sequence[_RatedAnswer]) -> Agreement:
    attempts = Counter(one.answer.case for one in rated)
    pairs = (
        _RatingPair(
            scale.category(one.human), scale.category(one.score), 1 / attempts[one.answer.case]
        )
        for one in rated
    )
    return _agreement(scale, len(attempts), pairs)


def _human_agreement(scale: RatingScale, answers: Sequence[LabelledAnswer]) -> Agreement | None:
    shared = [answer for answer in answers if len(answer.labels) > 1]
    attempts = Counter(answer.case for answer in shared)
    pairs = (
        pair._replace(weight=pair.weight / attempts[answer.case])
        for answer in shared
        for pair in _label_pairs(scale, answer)
    )
    return _agreement(scale, len(attempts), pairs) if shared else None


def _label_pairs(scale: RatingScale, answer: LabelledAnswer) -> Iterator[_RatingPair]:
    """Every two people who labelled an answer, in both orders. Unlike a judge and a person, two
    people have no given order: taking each pair once would make kappa depend on the file."""
    number = len(answer.labels)
    counts: Counter[LabelValue] = Counter(scale.category(label.label) for label in answer.labels)
    for left, times in counts.items():
        for right, others in counts.items():
            both = times * (others - (left == right))
            yield _RatingPair(left, right, both / (number * (number - 1)))


def _agreement(scale: RatingScale, cases: int, pairs: Iterable[_RatingPair]) -> Agreement:
    """Build the confusion matrix. A case counts once, however many attempts at it there are."""
    cells: defaultdict[tuple[LabelValue, LabelValue], list[float]] = defaultdict(list)
    for left, right, weight in pairs:
        cells[left, right].append(weight)
    counts = tuple(
        tuple(round(fsum(cells[left, right]), _DIGITS) for right in scale.categories)
        for left in scale.categories
    )
    measured = measure_agreement(counts)
    return Agreement(
        kind=scale.kind,
        cases=cases,
        share=measured.share,
        kappa=measured.kappa,
        confusion=ConfusionMatrix(categories=scale.categories, counts=counts),
    )


def _bias(rated: Sequence[_RatedAnswer], spec: MetricSpec) -> Statistic | None:
    """The mean of judge minus human over cases, if the labels are numbers."""
    differences: defaultdict[str, list[float]] = defaultdict(list)
    for rating in rated:
        if not isinstance(rating.human, str):
            differences[rating.answer.case].append(rating.score - rating.human)
    if not differences:
        return None
    low, high = spec.scale
    means = [fsum(values) / len(values) for values in differences.values()]
    sample = paired_differences(means, 1.0 if high is None else high - low)
    ends = sample.interval(LEVEL)
    return Statistic(
        value=round(sample.mean, _DIGITS),
        interval=(round(ends[0], _DIGITS), round(ends[1], _DIGITS)),
    )


def _unscored_labels(answers: Iterable[LabelledAnswer]) -> UnscoredLabels:
    cases: dict[str, dict[str, None]] = {"absent": {}, "failed": {}, "unscored": {}}
    for answer in answers:
        if answer.score is None:
            cases["absent"][answer.case] = None
        elif answer.score.value is None:
            status = "failed" if answer.score.status == "error" else "unscored"
            cases[status][answer.case] = None
    return UnscoredLabels(**{status: tuple(names) for status, names in cases.items()})


def _disagreements(scale: RatingScale, rated: Sequence[_RatedAnswer]) -> Iterator[Disagreement]:
    apart = [
        rating for rating in rated if scale.category(rating.human) != scale.category(rating.score)
    ]
    apart.sort(key=lambda rating: -scale.distance(rating.human, rating.score))
    for rating in apart[:_MOST_DISAGREEMENTS]:
        notes = [label.note for label in rating.answer.labels if label.note]
        yield Disagreement(
            case=rating.answer.case,
            trace=rating.answer.trace,
            human=scale.category(rating.human),
            judge=scale.category(rating.score),
            value=rating.score,
            reason=rating.reason,
            note="; ".join(dict.fromkeys(notes)),
        )
