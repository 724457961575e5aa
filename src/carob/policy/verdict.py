"""Verdicts from scores. Pure: the same scores give the same verdict, in any order.

Composites are computed with exact decimals. With binary fractions, scores whose weighted mean is
exactly the required composite could fall short of it by a trillionth. So could decimals of a score
such as 1/3, which is why a composite that is short by no more than that reaches it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from carob.errors import UsageError
from carob.policy.profile import ClosedScale, Profile, canonical_name
from carob.schema import (
    CaseScore,
    Failed,
    MetricSpec,
    ProfileVerdict,
    Score,
    Status,
    Unscored,
)
from carob.schema.outcome import Scale

if TYPE_CHECKING:
    from fractions import Fraction


_ROUNDING = 1e-12


class ScaledScore(NamedTuple):
    """A score and the scale of its metric."""

    value: float
    scale: Scale


def score_status(
    outcome: Score | Unscored | Failed,
    threshold: float | None,
    better: Literal["higher", "lower"] = "higher",
) -> Status:
    """Compare an outcome with a threshold. Without one it is informational."""
    if isinstance(outcome, Unscored):
        return "unscored"
    if isinstance(outcome, Failed):
        return "error"
    if threshold is None:
        return "info"
    reached = outcome.value >= threshold if better == "higher" else outcome.value <= threshold
    return "passed" if reached else "failed"


def hold_back(
    judgement: ProfileVerdict, profile: Profile, scores: Iterable[CaseScore]
) -> ProfileVerdict:
    """Withdraw a pass if the profile weighs a metric that could not be scored or ended in an
    error. Without this, an agent could pass on the metrics that remain."""
    missing = [
        score.metric
        for score in scores
        if (score.could_not_be_scored or score.status == "error") and profile.weighs(score.metric)
    ]
    if not missing or not judgement.passed:
        return judgement
    reason = f"Not scored: {', '.join(missing)}"
    return msgspec.structs.replace(judgement, passed=False, reason=reason)


def apply_profile(
    profile: Profile,
    scores: Mapping[str, ScaledScore],
    *,
    contract_broken: bool = False,
    raw: bool = False,
) -> ProfileVerdict:
    """Judge a case by a profile.

    Scores are converted to the scale of the profile, unless `raw`. Metrics that are not in the
    profile are ignored.
    """
    values = rescale_scores(profile, scores, raw=raw)
    composite = _composite(profile, values)
    reasons = [*_reasons(profile, values, _given_names(scores), composite, contract_broken)]
    return ProfileVerdict(
        profile=profile.name,
        composite=None if composite is None else float(composite),
        passed=not reasons,
        reason="; ".join(reasons),
    )


def rescale_scores(
    profile: Profile, scores: Mapping[str, ScaledScore], *, raw: bool
) -> dict[str, Fraction]:
    """Return the scores of the profile's metrics, on its scale and in its order."""
    by_name: dict[str, ScaledScore] = {}
    for name, scored in scores.items():
        if canonical_name(name) in by_name:
            raise UsageError(f"metric {canonical_name(name)!r} has two scores")
        by_name[canonical_name(name)] = scored
    return {
        name: exact_decimal(by_name[name].value) if raw else _rescale(profile, name, by_name[name])
        for name in profile.metrics
        if name in by_name
    }


def check_scales(profile: Profile, uses: Iterable[MetricSpec]) -> None:
    """Raise `UsageError` before a run if the profile has a metric without a closed scale."""
    for use in uses:
        if profile.weighs(use.name):
            if use.better == "lower":
                raise _unusable_metric(profile, use.name, "lower is better")
            _close_scale(profile, use.name, use.scale)


@lru_cache(maxsize=4096)
def exact_decimal(value: float) -> Fraction:
    """Return the number as the decimal that a person would write for it."""
    from fractions import Fraction  # late: only profiles need it

    return Fraction(repr(float(value)))


def _rescale(profile: Profile, name: str, scored: ScaledScore) -> Fraction:
    low, high = _close_scale(profile, name, scored.scale)
    if (low, high) == profile.scale:
        return exact_decimal(scored.value)
    bottom, top = map(exact_decimal, profile.scale)
    share = (exact_decimal(scored.value) - exact_decimal(low)) / (
        exact_decimal(high) - exact_decimal(low)
    )
    return bottom + share * (top - bottom)


def _close_scale(profile: Profile, name: str, scale: Scale) -> ClosedScale:
    if scale[1] is None:
        raise _unusable_metric(profile, name, "its scale has no upper limit")
    return scale[0], scale[1]


def _unusable_metric(profile: Profile, name: str, why: str) -> UsageError:
    return UsageError(
        f"profile {profile.name!r} cannot include the metric {name!r}: {why}",
        hint="set a threshold for the metric instead",
    )


def _composite(profile: Profile, values: Mapping[str, Fraction]) -> Fraction | None:
    # In fractions: as floats, 3.65 weighted with 0.1, 0.2 and 0.7 is 3.6499999999999995, too low.
    weights = {name: exact_decimal(profile.metrics[name].weight) for name in values}
    total = sum(weights.values())
    return sum(values[name] * weights[name] for name in values) / total if total else None


def _reasons(
    profile: Profile,
    values: Mapping[str, Fraction],
    names: Mapping[str, str],
    composite: Fraction | None,
    contract_broken: bool,
) -> Iterator[str]:
    hard = profile.hard_fail
    fatal = [
        name
        for name in values
        if name in hard.metrics
        and hard.below is not None
        and values[name] < exact_decimal(hard.below)
    ]
    if hard.contract and contract_broken:
        yield "Contract broken"
    if fatal:
        shown = ", ".join(_format_score(name, names, values) for name in fatal)
        yield f"Hard-fail metrics (<{hard.below:.2f}): {shown}"
    below = [name for name in values if name not in fatal and _is_below(profile, name, values)]
    if below:
        shown = ", ".join(
            f"{_format_score(name, names, values)} (<{profile.metrics[name].threshold:.2f})"
            for name in below
        )
        yield f"Below threshold: {shown}"
    if composite is None:
        yield "No metric of the profile was scored"
    elif composite < exact_decimal(profile.composite) - exact_decimal(_ROUNDING):
        yield f"Composite={float(composite):.2f} (<{profile.composite:.2f})"


def _given_names(scores: Iterable[str]) -> dict[str, str]:
    """Return the names under which scores were given, by the names that profiles use.

    Reasons repeat the given name: whoever scored `EmpathyExplain` looks for that.
    """
    return {canonical_name(name): name for name in scores}


def _is_below(profile: Profile, name: str, values: Mapping[str, Fraction]) -> bool:
    return values[name] < exact_decimal(profile.metrics[name].threshold)


def _format_score(name: str, names: Mapping[str, str], values: Mapping[str, Fraction]) -> str:
    return f"{names[name]}={float(values[name]):.2f}"
