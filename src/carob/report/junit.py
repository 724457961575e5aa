"""A run as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from carob.report.forms import ReportInputs
from carob.report.markup import Markup, start_tag, tag
from carob.report.run import (
    WHY_INFORMATIONAL,
    attempt_facts,
    describe_status,
    metrics_without_scores,
)
from carob.report.text import shortened
from carob.schema import CaseResult, CaseScore, Run

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def format_junit(inputs: ReportInputs) -> Iterator[str]:
    """Yield one test per case and trace: passed, failed, error, or skipped if nothing decided."""
    run = inputs.run
    counts = run.summary.cases
    totals = {
        "tests": str(counts.total),
        "failures": str(counts.failed),
        "errors": str(counts.errors),
        "skipped": str(counts.total - counts.passed - counts.failed - counts.errors),
    }
    name = run.dataset.name if run.dataset else run.id
    created_at = run.created_at.removesuffix("Z")
    yield _HEAD
    yield start_tag("testsuites", name="carob", time="0", **totals)
    yield start_tag("testsuite", name=name, time="0", timestamp=created_at, **totals)
    yield _properties(run)
    yield from _tests(run, name)
    yield "</testsuite></testsuites>\n"


def _properties(run: Run) -> Markup:
    facts = {"run": run.id, "verdict": run.verdict}
    if run.dataset:
        facts |= {"dataset": run.dataset.digest}
        facts |= {"version": run.dataset.version} if run.dataset.version else {}
    facts |= attempt_facts(run)
    facts |= {f"scored no case: {name}": why for name, why in metrics_without_scores(run)}
    return tag("properties", [tag("property", name=key, value=facts[key]) for key in facts])


def _tests(run: Run, suite: str) -> Iterator[str]:
    attempts = Counter(result.case for result in run.cases)
    for result in run.cases:
        name = _name(result, attempts[result.case])
        yield tag("testcase", _outcome(result), name=name, classname=suite, time="0")
        yield "\n"


def _name(result: CaseResult, attempts: int) -> str:
    """Return the case id, with the trace id if the case has several traces."""
    if result.case is None or result.trace is None or attempts == 1:
        return result.case or result.trace or "(no name)"
    return f"{result.case} [{result.trace}]"


def _outcome(result: CaseResult) -> Markup | None:
    if result.status == "passed":
        return None
    if result.status == "info":
        return tag("skipped", message=f"nothing was decided: {WHY_INFORMATIONAL}")
    lines = [*_judgement(result), *(_line(score) for score in _deciding_scores(result))] or [
        result.paired_by
    ]
    message = shortened(lines[0], 200)
    if result.status == "unscored":
        return tag("skipped", message=message)
    element, kind = ("failure", "failed") if result.status == "failed" else ("error", "error")
    text = "\n".join([*lines, *_answers(result)])
    return tag(element, text, message=message, type=kind)


def _judgement(result: CaseResult) -> list[str]:
    return [f"{result.judgement.profile}: {result.judgement.reason}"] if result.judgement else []


def _deciding_scores(result: CaseResult) -> list[CaseScore]:
    """Return the scores behind the status; unscored ones only if there is nothing worse, those that
    hold the case back first."""
    scores = [score for score in result.scores if score.status in ("failed", "error")]
    if result.status == "error":
        scores.sort(key=lambda score: score.status)
    unscored = [score for score in result.scores if score.status == "unscored"]
    return scores or sorted(unscored, key=lambda score: not score.could_not_be_scored)


def _line(score: CaseScore) -> str:
    value = "" if score.value is None else f" {score.value:.3g}"
    below = f", threshold {score.threshold:g}" if value and score.threshold is not None else ""
    reason = f": {score.reason}" if score.reason else ""
    return f"{score.metric}{value or f' {describe_status(score)}'}{below}{reason}"


def _answers(result: CaseResult) -> list[str]:
    return [
        line
        for turn, exchange in enumerate(result.exchanges, 1)
        if exchange.expected is not None and exchange.expected != exchange.actual
        for line in (
            f"turn {turn}: {exchange.user or '(not recorded)'}",
            f"  expected  {exchange.expected}",
            f"  actual    {exchange.actual if exchange.actual is not None else '(not recorded)'}",
        )
    ]
