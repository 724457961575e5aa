"""A run as SARIF: what failed is shown at its line in the golden data, in the pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from carob.errors import UsageError
from carob.report.sarif import SarifResult, SarifRule, sarif
from carob.report.text import printable, shortened
from carob.schema import CaseResult, CaseScore, MetricUse, Run, Severity

Places: TypeAlias = Mapping[str, tuple[str, int]]
"""Where the cases are: their ids, and file and line of each."""

_LEVELS: Mapping[str, Severity] = {"failed": "error", "error": "error", "unscored": "warning"}
_UNSCORED = SarifRule("unscored", "Unscored", "warning", "A case of which nothing was scored.")


def run_sarif(run: Run, places: Places) -> str:
    """A rule for each metric, a result for each metric that a case did not pass."""
    if not places:
        raise UsageError(
            "SARIF shows cases at their lines, and there is no golden data",
            hint="give the golden data with --golden",
        )
    results = [found for one in run.cases for found in _results(one, places)]
    used = {result.rule for result in results}
    rules = [
        *map(_rule, run.metrics),
        *_profiles(run),
        *([_UNSCORED] if _UNSCORED.id in used else []),
    ]
    return sarif(rules, results)


def _rule(use: MetricUse) -> SarifRule:
    threshold = "" if use.threshold is None else f", threshold {use.threshold:g}"
    name = "".join(part.capitalize() for part in use.name.split("_"))
    summary = f"A case did not pass {use.name}, version {use.version}{threshold}."
    return SarifRule(use.name, name, "error", summary)


def _profiles(run: Run) -> list[SarifRule]:
    names = sorted({one.judgement.profile for one in run.cases if one.judgement})
    return [
        SarifRule(f"profile/{name}", "Profile", "error", f"A case did not pass the profile {name}.")
        for name in names
    ]


def _results(one: CaseResult, places: Places) -> Iterator[SarifResult]:
    if one.status == "passed":
        return
    if one.status == "unscored":
        reasons = dict.fromkeys(score.reason for score in one.scores) or [one.paired_by]
        yield _result(one, places, _UNSCORED.id, f"not scored: {'; '.join(reasons)}")
        return
    for score in one.scores:
        if score.status in ("failed", "error"):
            yield _result(one, places, score.metric, _message(score))
    if one.judgement and not one.judgement.passed:
        judgement = one.judgement
        yield _result(one, places, f"profile/{judgement.profile}", judgement.reason)


def _result(one: CaseResult, places: Places, rule: str, message: str) -> SarifResult:
    path, line = places.get(one.case or "", (next(iter(places.values()))[0], None))
    return SarifResult(
        rule=rule,
        level=_LEVELS[one.status],
        message=_plain(f"{one.case or one.trace}: {message}"),
        path=path,
        line=line,
        key=f"{one.case} {one.trace}",
    )


def _message(score: CaseScore) -> str:
    value = score.status if score.value is None else f"{score.value:.3g}"
    threshold = "" if score.threshold is None else f", threshold {score.threshold:g}"
    return f"{score.metric} {value}{threshold}{f': {score.reason}' if score.reason else ''}"


def _plain(text: str) -> str:
    """Agents' text is data: none of it becomes a link in the viewer."""
    return shortened(printable(text), 2000).replace("](", "] (")
