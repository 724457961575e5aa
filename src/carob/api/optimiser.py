"""Metrics for optimisers of prompts, such as GEPA and DSPy: a score, and the reasons as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from carob.api.testing import suite
from carob.errors import UsageError
from carob.schema import Case, CaseScore, Dataset, MetricSpec, Trace


class ScoreWithFeedback(float):
    """A number from 0 to 1 with feedback in words. Optimisers read it as a number, as an object
    with `score` and `feedback`, or as a mapping with these keys."""

    feedback: str
    objective_scores: None = None
    """GEPA asks for scores by objective, and accepts none."""

    def __new__(cls, value: float, feedback: str) -> ScoreWithFeedback:
        """Return a number with a text."""
        number = super().__new__(cls, value)
        number.feedback = feedback
        return number

    @property
    def score(self) -> float:
        """The number alone."""
        return float(self)

    def __getitem__(self, key: str) -> float | str:
        """Return the score or the feedback."""
        if key not in ("score", "feedback"):
            raise KeyError(key)
        return self.score if key == "score" else self.feedback


OptimiserMetric = Callable[..., ScoreWithFeedback]


def as_metric(
    metrics: str | Sequence[str],
    *,
    user: str = "question",
    expected: str = "answer",
    answer: str = "answer",
    thresholds: Mapping[str, float] | None = None,
    judge: str | None = None,
) -> OptimiserMetric:
    """Return a function `(gold, prediction, …)` that scores a prediction, for optimisers such as
    GEPA and DSPy. The score is the mean of the metrics, each mapped to 0 to 1 with 1 as the best;
    the feedback has the reasons of all that are not perfect.

    `gold` is a case, or an example with the fields `user` and `expected`; the prediction is a text,
    a trace, or an object with the field `answer`. Raises `UsageError` if no metric can score a
    pair: an optimiser must not take "could not tell" for a 0.
    """
    names = [metrics] if isinstance(metrics, str) else [*metrics]

    def evaluate(
        gold: Any, prediction: Any, trace: Any = None, *args: Any, **kwargs: Any
    ) -> ScoreWithFeedback:
        del trace, args, kwargs  # optimisers pass more than a metric needs
        case = _as_case(gold, user, expected)
        single = suite(
            Dataset(name=case.id, cases=[case]), metrics=names, thresholds=thresholds, judge=judge
        )
        try:
            text = _as_answer(prediction, answer)
            result = single.score(case, text, id=case.id, reason="given together").result
        finally:
            single.close()
        return _combine(case, result.scores, single.metrics)

    return evaluate


def _combine(
    case: Case, scores: Sequence[CaseScore], specs: Sequence[MetricSpec]
) -> ScoreWithFeedback:
    by_name = {spec.name: spec for spec in specs}
    shares: list[float] = []
    feedback: list[str] = []
    for item in scores:
        share = None if item.value is None else _share(by_name[item.metric], item.value)
        if share is not None:
            shares.append(share)
        if share is None or share < 1:
            value = item.status if item.value is None else f"{item.value:g}"
            reason = f" ({item.reason})" if item.reason else ""
            feedback.append(f"{item.metric}: {value}{reason}")
    if not shares:
        raise UsageError(f"no metric could score the pair: {'; '.join(feedback)}", where=case.id)
    return ScoreWithFeedback(sum(shares) / len(shares), "\n".join(feedback) or "perfect")


def _share(spec: MetricSpec, value: float) -> float:
    """Map a value to 0 to 1, with 1 as the best."""
    low, high = spec.scale
    if high is None:
        hint = "choose metrics with an upper limit; `carob metrics NAME` shows the scale"
        raise UsageError(f"metric {spec.name!r} has no upper limit", hint=hint)
    share = (value - low) / (high - low)
    return share if spec.better == "higher" else 1 - share


def _as_case(gold: Any, user: str, expected: str) -> Case:
    if isinstance(gold, Case):
        return gold
    question = _field(gold, user)
    if not isinstance(question, str):
        raise UsageError(f"the example has no text {user!r}", hint="name the field with user=…")
    reference = _field(gold, expected)
    return Case.of(question, None if reference is None else str(reference))


def _as_answer(prediction: Any, answer: str) -> str | Trace:
    if isinstance(prediction, str | Trace):
        return prediction
    text = _field(prediction, answer)
    if text is None:
        hint = "name the field with answer=…"
        raise UsageError(f"the prediction has no field {answer!r}", hint=hint)
    return str(text)


def _field(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return cast("Mapping[str, Any]", value).get(name)
    return getattr(value, name, None)
