"""A run as JUnit XML, which every CI system shows as tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from carob.report.markup import Child, Markup, tag
from carob.report.text import shortened
from carob.schema import CaseResult, CaseScore, Run

_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def junit(run: Run) -> str:
    """One test for each pair: failed, with an error, skipped if it was not scored, or passed."""
    counts = run.summary.cases
    totals = {
        "tests": counts.total,
        "failures": counts.failed,
        "errors": counts.errors,
        "skipped": counts.unscored,
    }
    name = run.dataset.name if run.dataset else run.id
    suite = tag(
        "testsuite",
        _properties(run),
        _tests(run, name),
        name=name,
        time="0",
        timestamp=run.created_at.removesuffix("Z"),
        **{key: str(value) for key, value in totals.items()},
    )
    whole = {key: str(value) for key, value in totals.items()}
    return f"{_HEAD}{tag('testsuites', suite, name='carob', time='0', **whole)}\n"


def _properties(run: Run) -> Markup:
    facts = {"run": run.id, "verdict": run.verdict}
    if run.dataset:
        facts |= {"dataset": run.dataset.digest}
        facts |= {"version": run.dataset.version} if run.dataset.version else {}
    return tag("properties", [tag("property", name=key, value=facts[key]) for key in facts])


def _tests(run: Run, suite: str) -> Iterator[Child]:
    attempts = Counter(one.case for one in run.cases)
    for one in run.cases:
        name = _name(one, attempts[one.case])
        yield tag("testcase", _outcome(one), name=name, classname=suite, time="0")
        yield "\n"


def _name(one: CaseResult, attempts: int) -> str:
    """The case; with its trace if there are several."""
    if one.case is None or one.trace is None or attempts == 1:
        return one.case or one.trace or "(no name)"
    return f"{one.case} [{one.trace}]"


def _outcome(one: CaseResult) -> Markup | None:
    if one.status == "passed":
        return None
    lines = [*_judged(one), *(_line(score) for score in _troubled(one))] or [one.paired_by]
    message = shortened(lines[0], 200)
    if one.status == "unscored":
        return tag("skipped", message=message)
    element, kind = ("failure", "failed") if one.status == "failed" else ("error", "error")
    text = "\n".join([*lines, *_answers(one)])
    return tag(element, text, message=message, type=kind)


def _judged(one: CaseResult) -> list[str]:
    return [f"{one.judgement.profile}: {one.judgement.reason}"] if one.judgement else []


def _troubled(one: CaseResult) -> list[CaseScore]:
    """What made the status first; what could not be scored is no news in a case that failed."""
    found = [score for score in one.scores if score.status in ("failed", "error")]
    if one.status == "error":
        found.sort(key=lambda score: score.status)
    return found or [score for score in one.scores if score.status == "unscored"]


def _line(score: CaseScore) -> str:
    value = "" if score.value is None else f" {score.value:.3g}"
    below = f", threshold {score.threshold:g}" if value and score.threshold is not None else ""
    reason = f": {score.reason}" if score.reason else ""
    return f"{score.metric}{value or f' {score.status}'}{below}{reason}"


def _answers(one: CaseResult) -> list[str]:
    return [
        line
        for turn, exchange in enumerate(one.exchanges, 1)
        if exchange.expected is not None and exchange.expected != exchange.actual
        for line in (
            f"turn {turn}: {exchange.user or '(not recorded)'}",
            f"  expected  {exchange.expected}",
            f"  actual    {exchange.actual if exchange.actual is not None else '(not recorded)'}",
        )
    ]
