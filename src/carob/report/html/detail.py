"""The details of a case: scores with reasons, the conversation, and expected vs. actual."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from carob.report.html.parts import breakable, cut, mark, number, stamp
from carob.report.markup import Child, Markup, join, tag
from carob.report.text_diff import JsonDifference, compare_json, compare_words
from carob.schema import CaseResult, CaseScore, Exchange, Status

_STEP = re.compile(r"\n|; (?=(?:turn \d+: )?(?:matched|missing|unexpected|wrong argument) )")
_KIND = re.compile(r"(?:turn \d+: )?(matched|missing|unexpected|wrong) ")
_MAX_STEPS = 200
_ORDER: tuple[Status, ...] = ("failed", "error", "passed", "info", "unscored")


def detail(result: CaseResult) -> Markup:
    """Return the expandable details below a row of the table."""
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
    return "Scores" if result.status in ("passed", "info") else "Reasons and conversation"


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
        tag("dt", stamp(score.status), " ", tag("strong", breakable(score.metric)), value),
        tag("dd", _reason(score.reason)) if score.reason else None,
        tag("dd", f"by turn: {turns}", class_="note") if turns else None,
        tag("dd", _details(score), class_="note") if score.details else None,
    )


def _reason(reason: str) -> Child:
    """Return a list if the reason is an edit script with several steps, else one text."""
    steps = _STEP.split(cut(reason))
    if len(steps) == 1:
        return _step(steps[0])
    return tag("ul", [tag("li", _step(step)) for step in steps[:_MAX_STEPS]], class_="steps")


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
    turns = [tag("li", _turn(exchange)) for exchange in exchanges]
    return join([tag("h3", "Conversation"), tag("ol", turns, class_="turns")])


def _turn(exchange: Exchange) -> Iterator[Markup]:
    yield _message("user", exchange.user if exchange.user is not None else "(not recorded)")
    if exchange.expected is None:
        yield _message(
            "agent", exchange.actual if exchange.actual is not None else "(not recorded)"
        )
    elif exchange.actual is None:
        yield _message("expected", exchange.expected)
        yield _message("actual", "(not recorded)")
    elif exchange.expected == exchange.actual:
        yield _message("agent, as expected", exchange.actual)
    else:
        yield from _expected_and_actual(exchange.expected, exchange.actual)


def _message(who: str, text: Child) -> Markup:
    shown = cut(text) if isinstance(text, str) and not isinstance(text, Markup) else text
    kind = who.partition(",")[0]
    return tag(
        "div",
        tag("p", who, class_="who"),
        tag("div", shown, class_="text", dir="auto"),
        class_=f"said {kind}",
    )


def _expected_and_actual(expected: str, actual: str) -> Iterator[Markup]:
    pieces = compare_words(cut(expected), cut(actual))
    before = join(
        [
            piece.expected if piece.same else mark("del", piece.expected)
            for piece in pieces
            if piece.expected
        ]
    )
    after = join(
        [
            piece.actual if piece.same else mark("ins", piece.actual)
            for piece in pieces
            if piece.actual
        ]
    )
    yield tag("div", _message("expected", before), _message("actual", after), class_="versus")
    differences = compare_json(expected, actual)
    if differences:
        yield tag("ul", map(_difference, differences), class_="places", aria_label="Differences")


def _difference(difference: JsonDifference) -> Markup:
    return tag(
        "li",
        tag("code", cut(difference.path)),
        ": expected ",
        tag("del", cut(difference.expected)) if difference.expected is not None else "nothing",
        ", got ",
        tag("ins", cut(difference.actual)) if difference.actual is not None else "nothing",
    )
