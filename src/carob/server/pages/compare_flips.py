"""A flip of a comparison: what moved between the runs, call by call and answer by answer."""

from __future__ import annotations

from typing import Literal

from carob.api.views.comparison import MovedFlip
from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Comparison
from carob.schema.comparison import FlippedTurn
from carob.schema.edit_script import EditStep
from carob.server.pages.parts import address, score, sign
from carob.server.pages.run_cases import difference
from carob.server.pages.texts import MAX_VALUE, diff_words, fold_text, value_text

_CONTEXT = 40
"""Characters that are shown before the first difference of two long values."""


def flip_article(comparison: Comparison, view: MovedFlip) -> Markup:
    """Return a flip: what moved, the scores, the calls and the answers that differ."""
    flip, run = view.flip, comparison.after.id
    reasons = [
        tag(
            "li",
            tag("strong", breakable(item.metric)),
            f" {score(item.before)} → {score(item.after)}{': ' if item.reason else ''}",
            tag("bdi", difference(item.reason)),
        )
        for item in flip.scores
    ]
    mark = "▼" if flip.kind == "broke" else "▲"
    moved = ", ".join(view.moved) or "nothing that was recorded"
    return tag(
        "article",
        tag(
            "h3",
            tag("span", mark, class_=flip.kind, aria_hidden="true"),
            " ",
            tag("a", flip.case, href=address("runs", run, "cases", flip.case), dir="auto"),
            " ",
            sign(flip.before),
            " → ",
            sign(flip.after),
        ),
        tag(
            "p",
            tag("strong", "moved: "),
            tag("bdi", moved),
            tag("span", f" · {' · '.join(view.same)}", class_="quiet"),
        ),
        tag("ul", reasons, class_="paths"),
        _calls(view),
        [_flip_turn(comparison, flip.case, turn) for turn in flip.turns],
        class_="flip",
    )


def _calls(view: MovedFlip) -> list[Markup]:
    """Return the calls that differ; which of them is right, the golden case says."""
    return [
        tag(
            "div",
            _said("base", _call(step, "expected")),
            _said("run", _call(step, "actual")),
            class_="pair",
        )
        for step in view.calls
    ]


def _call(step: EditStep, side: Literal["expected", "actual"]) -> Markup:
    """Return the call of one run: all of it, or of two calls only the arguments that differ."""
    call = step.expected if side == "expected" else step.actual
    if call is None:
        return tag("span", "no call", class_="quiet")
    args = call.args if isinstance(call.args, dict) else {}
    differing = {item.name for item in step.arguments if item.kind != "same"}
    shown = {name: value for name, value in args.items() if not differing or name in differing}
    values: list[Child] = [
        [", " if place else None, tag("bdi", f"{name}="), _value(step, name, side)]
        for place, name in enumerate(shown)
    ]
    left = len(args) - len(shown)
    same = tag("span", f" and {count(left, 'equal argument')}", class_="quiet")
    return join([tag("code", tag("bdi", call.name), "(", values, ")"), same if left else None])


def _value(step: EditStep, name: str, side: Literal["expected", "actual"]) -> Markup:
    """Return an argument; of two long values the part where they differ is enough."""
    call, other = (
        (step.expected, step.actual) if side == "expected" else (step.actual, step.expected)
    )
    texts = [
        value_text(call.args[name])
        for call in (call, other)
        if call and isinstance(call.args, dict) and name in call.args
    ]
    if len(texts) == 2 and len(texts[0]) > MAX_VALUE:
        pairs = enumerate(zip(*texts, strict=False))
        first = next((place for place, (a, b) in pairs if a != b), 0)
        start = max(first - _CONTEXT, 0)
        text = texts[0][start:]
        return join(["…" if start else None, fold_text(text, MAX_VALUE)])
    return fold_text(texts[0], MAX_VALUE)


def _said(who: str, content: Child) -> Markup:
    return tag(
        "div", tag("span", who, class_="who"), tag("div", content, dir="auto"), class_="said"
    )


def _flip_turn(comparison: Comparison, case: str, turn: FlippedTurn) -> Markup | None:
    wrong = turn.after if turn.after is not None else turn.before
    if turn.expected is None or wrong is None or turn.expected == wrong:
        return None
    name, run = ("run", comparison.after) if turn.after is not None else ("base", comparison.before)
    raw = address("runs", run.id, "cases", case, tab="raw")
    left, right = diff_words(turn.expected, wrong, raw=raw)
    return tag("div", _said("golden", left), _said(name, right), class_="pair")
