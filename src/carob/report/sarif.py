"""SARIF 2.1.0, the form in which code hosts show findings at their lines in a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec

from carob import __version__
from carob.errors import UsageError
from carob.report.text import printable, shortened
from carob.schema import CaseResult, CaseScore, MetricSpec, Run, Severity

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


class SarifRule(NamedTuple):
    """What results are about."""

    id: str
    name: str
    level: Severity
    summary: str


class SarifResult(NamedTuple):
    """Something at a line of a file."""

    rule: str
    level: Severity
    message: str
    path: str
    line: int | None
    key: str
    """What the result is about, so that it is known again when lines have moved."""


def sarif(rules: Iterable[SarifRule], results: Iterable[SarifResult]) -> str:
    """One run of Carob as a SARIF log."""
    listed = [*rules]
    indices = {rule.id: index for index, rule in enumerate(listed)}
    driver = {"name": "Carob", "version": __version__, "rules": [_rule(rule) for rule in listed]}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(result, indices[result.rule]) for result in results],
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _rule(rule: SarifRule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(result: SarifResult, index: int) -> dict[str, object]:
    place: dict[str, object] = {
        "artifactLocation": {"uri": _uri(result.path)},
        "region": {"startLine": result.line or 1},
    }
    about = "\0".join((result.rule, result.path, result.key))
    mark = blake2b(about.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level,
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"carob/v1": mark},
    }


def _uri(path: str) -> str:
    """Code hosts want paths from the root of the repository, where the command is usually run."""
    whole, here = Path(path).absolute(), Path.cwd()
    if whole.is_relative_to(here):
        return quote(whole.relative_to(here).as_posix())
    return whole.as_uri()


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
        *map(_metric_rule, run.metrics),
        *_profiles(run),
        *([_UNSCORED] if _UNSCORED.id in used else []),
    ]
    return sarif(rules, results)


def _metric_rule(use: MetricSpec) -> SarifRule:
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
        yield _case_result(one, places, _UNSCORED.id, f"not scored: {'; '.join(reasons)}")
        return
    for score in one.scores:
        if score.status in ("failed", "error"):
            yield _case_result(one, places, score.metric, _message(score))
    if one.judgement and not one.judgement.passed:
        judgement = one.judgement
        yield _case_result(one, places, f"profile/{judgement.profile}", judgement.reason)


def _case_result(one: CaseResult, places: Places, rule: str, message: str) -> SarifResult:
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
