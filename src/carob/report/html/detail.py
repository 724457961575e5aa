"""One case in full: what each metric said, the conversation, and expected against actual."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from carob.report.html.parts import cut, named, number, stamp
from carob.report.markup import Child, Markup, join, tag
from carob.report.text_diff import Difference, compare_json, compare_words
from carob.schema import CaseResult, CaseScore, Exchange, ScoreStatus

_STEP = re.compile(r"\n|; (?=(?:turn \d+: )?(?:matched|missing|unexpected|wrong argument) )")
_KIND = re.compile(r"(?:turn \d+: )?(matched|missing|unexpected|wrong) ")
_MOST_STEPS = 200
_ORDER: tuple[ScoreStatus, ...] = ("failed", "error", "passed", "info", "unscored")


def detail(result: CaseResult) -> Markup:
    """What is behind a row of the table."""
    name = result.case or result.trace or "(no name)"
    scores = sorted(result.scores, key=lambda score: _ORDER.index(score.status))
    return tag(
        "details",
        tag("summary", _summary(result), tag("span", f" of {cut(name)}", class_="unseen")),
        tag(
            "div",
            _facts(result),
            tag("dl", map(_score, scores), class_="scores") if scores else None,
            _conversation(result.exchanges),
            class_="detail",
        ),
    )


def _summary(result: CaseResult) -> str:
    return "Scores" if result.status == "passed" else "Reasons and conversation"


def _facts(result: CaseResult) -> Markup:
    parts = [f"trace {result.trace}" if result.trace else "no trace", result.paired_by]
    if result.mapper:
        parts.append(f"read by {result.mapper}")
    judgement = result.judgement
    verdict = judgement and tag("p", tag("strong", judgement.profile), ": ", judgement.reason)
    return join([tag("p", ", ".join(filter(None, parts)), class_="note"), verdict])


def _score(score: CaseScore) -> Markup:
    threshold = "" if score.threshold is None else f", threshold {score.threshold:g}"
    value = "" if score.value is None else f" {number(score.value)}{threshold}"
    turns = ", ".join(map(number, score.turns)) if len(score.turns) > 1 else ""
    return tag(
        "div",
        tag("dt", stamp(score.status), " ", tag("strong", named(score.metric)), value),
        tag("dd", _reason(score.reason)) if score.reason else None,
        tag("dd", f"by turn: {turns}", class_="note") if turns else None,
        tag("dd", _details(score), class_="note") if score.details else None,
    )


def _reason(reason: str) -> Child:
    """An edit script has a line for each step; any other reason is one text."""
    steps = _STEP.split(cut(reason))
    if len(steps) == 1:
        return _step(steps[0])
    return tag("ul", [tag("li", _step(step)) for step in steps[:_MOST_STEPS]], class_="steps")


def _step(step: str) -> Markup:
    kind = _KIND.match(step)
    return tag("span", step, class_=f"step {kind[1]}" if kind else "reason", dir="auto")


def _details(score: CaseScore) -> str:
    return cut(
        ", ".join(
            f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
            for name, value in score.details.items()
        )
    )


def _conversation(exchanges: tuple[Exchange, ...]) -> Markup | None:
    if not exchanges:
        return None
    turns = [tag("li", _turn(one)) for one in exchanges]
    return join([tag("h3", "Conversation"), tag("ol", turns, class_="turns")])


def _turn(one: Exchange) -> Iterator[Markup]:
    yield _said("user", one.user if one.user is not None else "(not recorded)")
    if one.expected is None:
        yield _said("agent", one.actual if one.actual is not None else "(not recorded)")
    elif one.actual is None:
        yield _said("expected", one.expected)
        yield _said("actual", "(not recorded)")
    elif one.expected == one.actual:
        yield _said("agent, as expected", one.actual)
    else:
        yield from _compared(one.expected, one.actual)


def _said(who: str, text: Child) -> Markup:
    shown = cut(text) if isinstance(text, str) and not isinstance(text, Markup) else text
    kind = who.partition(",")[0]
    return tag(
        "div",
        tag("p", who, class_="who"),
        tag("div", shown, class_="text", dir="auto"),
        class_=f"said {kind}",
    )


def _compared(expected: str, actual: str) -> Iterator[Markup]:
    pieces = compare_words(cut(expected), cut(actual))
    before = join([p.expected if p.same else tag("del", p.expected) for p in pieces if p.expected])
    after = join([p.actual if p.same else tag("ins", p.actual) for p in pieces if p.actual])
    yield tag("div", _said("expected", before), _said("actual", after), class_="versus")
    differences = compare_json(expected, actual)
    if differences:
        yield tag("ul", map(_place, differences), class_="places", aria_label="Places that differ")


def _place(one: Difference) -> Markup:
    return tag(
        "li",
        tag("code", cut(one.place)),
        ": expected ",
        tag("del", cut(one.expected)) if one.expected is not None else "nothing",
        ", got ",
        tag("ins", cut(one.actual)) if one.actual is not None else "nothing",
    )
