"""Apply scoring profiles to scores that exist already."""

from __future__ import annotations

from collections.abc import Iterable

from carob.analysis.summary import summarise
from carob.errors import InputError
from carob.policy.apply import judge_lines
from carob.policy.profile import load_profile
from carob.schema import CaseResult, PolicyReport


def apply_policy(
    lines: Iterable[bytes], *, source: str, profile: str | None = None, raw: bool = False
) -> PolicyReport:
    """Turn scores in JSON lines `{"case", "profile", "scores"}` into verdicts. `profile`, a name or
    a file, overrides the profiles of all lines."""
    override = load_profile(profile) if profile else None
    cases = tuple(judge_lines(lines, source=source, profile=override, raw=raw))
    if not cases:
        raise InputError("no scores", where=source)
    by_profile: dict[str, list[CaseResult]] = {}
    for case in cases:
        if case.judgement:
            by_profile.setdefault(case.judgement.profile, []).append(case)
    summaries = {name: summarise(results, {}) for name, results in by_profile.items()}
    return PolicyReport(cases=cases, profiles=summaries)
