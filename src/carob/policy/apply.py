"""Scores that exist already become verdicts: JSON lines of a case, its profile and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from carob.errors import CarobError, FormatError
from carob.policy.profile import ClosedScale, Profile, canonical_name, find_profile
from carob.policy.verdict import ScaledScore, apply_profile, exact_decimal, rescale_scores
from carob.schema import CaseResult, CaseScore, ProfileVerdict, Status
from carob.text.spelling import did_you_mean

EXPLAIN_SCALES: Mapping[str, ClosedScale] = {
    "TaskAdherence": (1, 5),
    "IntentResolution": (1, 5),
    "ToolCallAccuracy": (1, 5),
    "Relevance": (1, 5),
    "Coherence": (1, 5),
    "PerceivedIntelligence": (1, 10),
    "Fluency": (1, 5),
    "Empathy": (1, 5),
    "Helpfulness": (1, 5),
}
"""The Explain evals, and the scales that their prompts ask for."""


class ScoreLine(msgspec.Struct):
    """The scores of one case; `null` is a score that could not be had."""

    case: str
    scores: dict[str, float | None]
    profile: str | None = None


_LINE = msgspec.json.Decoder(ScoreLine)
_KEYS = msgspec.json.Decoder(dict[str, Any])


def judge_lines(
    lines: Iterable[bytes],
    *,
    source: str,
    profile: Profile | None = None,
    raw: bool = False,
) -> Iterator[CaseResult]:
    """Judge each line by its profile, or all by the one that is given."""
    for number, data in enumerate(lines, 1):
        text = data.removeprefix(b"\xef\xbb\xbf").strip()
        if text:
            try:
                yield _result(_line(text), profile, raw)
            except CarobError as error:
                where = f"{source} line {number}"
                raise FormatError(error.message, where=where, hint=error.hint) from error


def _line(text: bytes) -> ScoreLine:
    try:
        line = _LINE.decode(text)
        keys = _KEYS.decode(text).keys() - {*ScoreLine.__struct_fields__}
    except msgspec.ValidationError as error:
        raise FormatError(str(error), hint=_shape()) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", hint=_shape()) from error
    for key in sorted(keys):
        hint = did_you_mean(key, ScoreLine.__struct_fields__)
        if hint:
            raise FormatError(f"unknown key {key!r}", hint=hint)
    return line


def _shape() -> str:
    return 'a line is {"case": …, "profile": …, "scores": {METRIC: number or null}}'


def _result(line: ScoreLine, given: Profile | None, raw: bool) -> CaseResult:
    if given is None and line.profile is None:
        raise FormatError("no profile", hint="name one in the line or with `--profile`")
    profile = given or find_profile(line.profile or "", {})
    scales = {**dict.fromkeys(profile.metrics, profile.scale), **EXPLAIN_SCALES}
    scored: dict[str, ScaledScore] = {}
    for name, value in line.scores.items():
        scale = _scale(name, scales)
        if scale is not None and value is not None:
            _check_on(name, value, scale, raw)
            scored[name] = ScaledScore(value, scale)
    judgement = apply_profile(profile, scored, raw=raw)
    return CaseResult(
        case=line.case,
        trace=None,
        status=_status(judgement),
        scores=tuple(_scores(profile, line, scored, raw)),
        judgement=judgement,
    )


def _scale(name: str, scales: Mapping[str, ClosedScale]) -> ClosedScale | None:
    """`None` for a metric of somebody else's, which has no say; one that resembles ours is
    misspelt."""
    scale = scales.get(canonical_name(name))
    hint = did_you_mean(canonical_name(name), scales, cutoff=0.8) if scale is None else None
    if hint:
        raise FormatError(f"unknown metric {name!r}", hint=hint)
    return scale


def _check_on(name: str, value: float, scale: ClosedScale, raw: bool) -> None:
    if not raw and not scale[0] <= value <= scale[1]:
        raise FormatError(
            f"{name}: {value:g} is not on its scale from {scale[0]:g} to {scale[1]:g}",
            hint="a score that could not be had is null; `--raw-scales` takes numbers as they are",
        )


def _status(judgement: ProfileVerdict) -> Status:
    if judgement.passed:
        return "passed"
    return "unscored" if judgement.composite is None else "failed"


def _scores(
    profile: Profile, line: ScoreLine, scored: Mapping[str, ScaledScore], raw: bool
) -> Iterator[CaseScore]:
    """The scores that were weighed, on the profile's scale."""
    values = rescale_scores(profile, scored, raw=raw)
    asked = {*map(canonical_name, line.scores)}
    for name, demand in profile.metrics.items():
        if name in values:
            reached = values[name] >= exact_decimal(demand.threshold)
            status = "passed" if reached else "failed"
            yield CaseScore(name, status, float(values[name]), demand.threshold)
        elif name in asked:
            yield CaseScore(name, "unscored", None, demand.threshold, "no score was given")
