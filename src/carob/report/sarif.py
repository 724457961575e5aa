"""SARIF 2.1.0, which code hosts show as annotations on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

import msgspec

from carob import __version__
from carob.errors import UsageError
from carob.report import format_json_list
from carob.report.forms import ReportInputs
from carob.report.run import WHY_INFORMATIONAL, attempt_facts, headline, metrics_without_scores
from carob.report.text import printable, shortened
from carob.schema import CaseResult, CaseScore, MetricSpec, Run, Severity

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


class SarifRule(NamedTuple):
    """A lint rule, a metric or a scoring profile."""

    id: str
    name: str
    level: Severity
    summary: str


class SarifResult(NamedTuple):
    """A violation of a rule at a line of a file."""

    rule: str
    level: Severity
    message: str
    path: str
    line: int | None
    key: str
    """Identifies the result when its line has moved."""


def sarif(
    rules: Iterable[SarifRule],
    results: Iterable[SarifResult],
    warnings: Iterable[str] = (),
    remarks: Iterable[str] = (),
) -> Iterator[str]:
    """Yield a SARIF log with one run of Carob. Warnings and remarks concern the run, and not a
    line."""
    listed = [*rules]
    indices = {rule.id: index for index, rule in enumerate(listed)}
    driver = {"name": "Carob", "version": __version__, "rules": [_rule(rule) for rule in listed]}
    notes = [{"level": "warning", "message": {"text": text}} for text in warnings]
    notes += [{"level": "note", "message": {"text": text}} for text in remarks]
    invocation = {"executionSuccessful": True, "toolExecutionNotifications": notes}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                **({"invocations": [invocation]} if notes else {}),
                "columnKind": "unicodeCodePoints",
                "results": [],
            }
        ],
    }
    encode = msgspec.json.Encoder().encode
    items = (encode(_result(result, indices[result.rule])) for result in results)
    return format_json_list(encode(log), "runs.0.results", items)


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
    identity = "\0".join((result.rule, result.path, result.key))
    fingerprint = blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level,
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"carob/v1": fingerprint},
    }


def _uri(path: str) -> str:
    """Return a relative path where possible: code hosts expect paths from the repository root."""
    absolute, current = Path(path).absolute(), Path.cwd()
    if absolute.is_relative_to(current):
        return quote(absolute.relative_to(current).as_posix())
    return absolute.as_uri()


CaseLines: TypeAlias = Mapping[str, tuple[str, int]]
"""File and line of each case, by case id."""

_LEVELS: Mapping[str, Severity] = {"failed": "error", "error": "error", "unscored": "warning"}
_UNSCORED = SarifRule("unscored", "Unscored", "warning", "No metric scored the case.")
_FLAKY = SarifRule("flaky", "Flaky", "warning", "Attempts at the case have different verdicts.")


def format_run_sarif(inputs: ReportInputs) -> Iterator[str]:
    """Yield a rule for each metric, and a result for each metric that a case did not pass."""
    run, lines = inputs.run, inputs.load_case_lines()
    if not lines:
        raise UsageError(
            "SARIF needs the golden data, to point at the lines of the cases",
            hint="pass the golden data with --golden",
        )
    results = chain(
        (result for case in run.cases for result in _results(case, lines)), _flaky(run, lines)
    )
    rules = [
        *map(_metric_rule, run.metrics),
        *_profiles(run),
        *([_UNSCORED] if run.summary.cases.unscored else []),
        *([_FLAKY] if run.summary.attempts and run.summary.attempts.flaky else []),
    ]
    return sarif(rules, results, _warnings(run), _notes(run))


def _warnings(run: Run) -> Iterator[str]:
    if run.verdict == "informational":
        yield f"{run.verdict}: {headline(run)}; {WHY_INFORMATIONAL}"
    yield from (_plain(metric.text) for metric in metrics_without_scores(run))


def _notes(run: Run) -> Iterator[str]:
    facts = attempt_facts(run)
    rates = [f"{name} {facts[name]}" for name in facts if name.startswith("pass")]
    if rates:
        yield f"repeated attempts: {', '.join(rates)}"


def _flaky(run: Run, lines: CaseLines) -> Iterator[SarifResult]:
    flaky = run.summary.attempts.flaky if run.summary.attempts else {}
    for case, (passed, total) in flaky.items():
        place = CaseResult(case=case, trace=None, status="unscored")
        yield _case_result(place, lines, _FLAKY.id, f"{passed} of {total} attempts passed")


def _metric_rule(use: MetricSpec) -> SarifRule:
    threshold = "" if use.threshold is None else f", threshold {use.threshold:g}"
    name = "".join(part.capitalize() for part in use.name.split("_"))
    summary = f"A case did not pass {use.name}, version {use.version}{threshold}."
    return SarifRule(use.name, name, "error", summary)


def _profiles(run: Run) -> list[SarifRule]:
    names = sorted({case.judgement.profile for case in run.cases if case.judgement})
    return [
        SarifRule(f"profile/{name}", "Profile", "error", f"A case did not pass the profile {name}.")
        for name in names
    ]


def _results(case: CaseResult, lines: CaseLines) -> Iterator[SarifResult]:
    if case.status in ("passed", "info"):
        return
    if case.status == "unscored":
        held_back = [score.reason for score in case.scores if score.could_not_be_scored]
        unscored = [score.reason for score in case.scores if score.status == "unscored"]
        reasons = dict.fromkeys(held_back or unscored) or [case.paired_by]
        yield _case_result(case, lines, _UNSCORED.id, f"not scored: {'; '.join(reasons)}")
        return
    for score in case.scores:
        if score.status in ("failed", "error"):
            yield _case_result(case, lines, score.metric, _message(score))
    if case.judgement and not case.judgement.passed:
        judgement = case.judgement
        yield _case_result(case, lines, f"profile/{judgement.profile}", judgement.reason)


def _case_result(case: CaseResult, lines: CaseLines, rule: str, message: str) -> SarifResult:
    path, line = lines.get(case.case or "", (next(iter(lines.values()))[0], None))
    return SarifResult(
        rule=rule,
        level=_LEVELS[case.status],
        message=_plain(f"{case.case or case.trace}: {message}"),
        path=path,
        line=line,
        key=f"{case.case} {case.trace}",
    )


def _message(score: CaseScore) -> str:
    value = score.status if score.value is None else f"{score.value:.3g}"
    threshold = "" if score.threshold is None else f", threshold {score.threshold:g}"
    return f"{score.metric} {value}{threshold}{f': {score.reason}' if score.reason else ''}"


def _plain(text: str) -> str:
    """Keep the text of agents from becoming links in the viewer."""
    return shortened(printable(text), 2000).replace("](", "] (")
