"""Verdicts for existing scores: JSON lines with a case, its profile and its scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from carob.errors import CarobError, FormatError
from carob.policy.profile import ClosedScale, Profile, canonical_name, find_profile
from carob.policy.verdict import (
    ScaledScore,
    apply_profile,
    exact_decimal,
    hold_back,
    rescale_scores,
)
from carob.schema import CaseResult, CaseScore
from carob.schema.base import prepare_type
from carob.schema.status import case_status
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
"""The scales that the prompts of the Explain evals ask for."""


class ScoreLine(msgspec.Struct):
    """The scores of one case; `null` is a missing score."""

    case: str
    scores: dict[str, float | None]
    profile: str | None = None


_LINE = msgspec.json.Decoder(prepare_type(ScoreLine))
_KEYS = msgspec.json.Decoder(dict[str, Any])


def judge_lines(
    lines: Iterable[bytes],
    *,
    source: str,
    profile: Profile | None = None,
    raw: bool = False,
) -> Iterator[CaseResult]:
    """Judge each line by its own profile, or all lines by `profile`."""
    for number, data in enumerate(lines, 1):
        text = data.removeprefix(b"\xef\xbb\xbf").strip()
        if text:
            try:
                yield _judge_line(_parse_line(text), profile, raw)
            except CarobError as error:
                where = f"{source} line {number}"
                raise FormatError(error.message, where=where, hint=error.hint) from error


def _parse_line(text: bytes) -> ScoreLine:
    try:
        line = _LINE.decode(text)
        keys = _KEYS.decode(text).keys() - {*ScoreLine.__struct_fields__}
    except msgspec.ValidationError as error:
        raise FormatError(str(error), hint=_line_hint()) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"not JSON: {error}", hint=_line_hint()) from error
    for key in sorted(keys):
        hint = did_you_mean(key, ScoreLine.__struct_fields__)
        if hint:
            raise FormatError(f"unknown key {key!r}", hint=hint)
    return line


def _line_hint() -> str:
    return 'expected {"case": …, "profile": …, "scores": {METRIC: number or null}}'


def _judge_line(line: ScoreLine, override: Profile | None, raw: bool) -> CaseResult:
    if override is None and line.profile is None:
        raise FormatError("no profile", hint="name one in the line or with `--profile`")
    profile = override or find_profile(line.profile or "", {})
    scales = {**dict.fromkeys(profile.metrics, profile.scale), **EXPLAIN_SCALES}
    scored: dict[str, ScaledScore] = {}
    for name, value in line.scores.items():
        scale = _scale_of(name, scales)
        if scale is not None and value is not None:
            _check_on_scale(name, value, scale, raw)
            scored[name] = ScaledScore(value, scale)
    judgement = apply_profile(profile, scored, raw=raw)
    scores = tuple(_scores(profile, line, scored, raw))
    decided = None if judgement.composite is None else judgement
    return CaseResult(
        case=line.case,
        trace=None,
        status=case_status(scores, decided, profile.weighs),
        scores=scores,
        judgement=hold_back(judgement, profile, scores),
    )


def _scale_of(name: str, scales: Mapping[str, ClosedScale]) -> ClosedScale | None:
    """Return the scale of a metric; `None` for an unknown one, which is ignored.

    An unknown name close to a known one is an error: it is probably misspelled.
    """
    scale = scales.get(canonical_name(name))
    hint = did_you_mean(canonical_name(name), scales, cutoff=0.8) if scale is None else None
    if hint:
        raise FormatError(f"unknown metric {name!r}", hint=hint)
    return scale


def _check_on_scale(name: str, value: float, scale: ClosedScale, raw: bool) -> None:
    if not raw and not scale[0] <= value <= scale[1]:
        raise FormatError(
            f"{name}: {value:g} is not on its scale from {scale[0]:g} to {scale[1]:g}",
            hint="use null for a missing score, or --raw-scales to skip conversion",
        )


def _scores(
    profile: Profile, line: ScoreLine, scored: Mapping[str, ScaledScore], raw: bool
) -> Iterator[CaseScore]:
    """Return the scores of the profile's metrics, on its scale.

    They have the profile's names, so that `Empathy` and `EmpathyExplain` share one mean.
    """
    values = rescale_scores(profile, scored, raw=raw)
    requested = {*map(canonical_name, line.scores)}
    for name, requirement in profile.metrics.items():
        if name in values:
            reached = values[name] >= exact_decimal(requirement.threshold)
            status = "passed" if reached else "failed"
            yield CaseScore(name, status, float(values[name]), requirement.threshold)
        elif name in requested:
            yield CaseScore(name, "unscored", None, requirement.threshold, "the score is missing")
