"""The turns of a case: expectation beside what the agent did; long stretches are folded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from carob.api.views.case import CaseView, TurnView
from carob.report.markup import Child, Markup, join, tag
from carob.schema import Turn
from carob.server.pages.conversation import (
    agents_pair,
    call_pair,
    plain_call,
    response_pair,
    user_pair,
)
from carob.server.pages.edit_script import turn_differs
from carob.server.pages.parts import sign

_MANY_TURNS = 10
"""So many turns in a row that are as expected are folded together."""
_FEW_TURNS = 30
"""In longer conversations, turns that are as expected are folded to two lines."""


def turn_list(view: CaseView, chosen: int | None) -> Markup:
    """Return the turns; in a long conversation those that differ, and the chosen one, are open."""
    fold = len(view.turns) > _FEW_TURNS
    return join(_fold_turns(view, chosen) if fold else _plain_turns(view))


def _plain_turns(view: CaseView) -> list[Markup]:
    good = _is_good(view)
    return [_turn(number, turn, fold=False, good=good) for number, turn in enumerate(view.turns, 1)]


def _fold_turns(view: CaseView, chosen: int | None) -> Iterator[Markup]:
    """Fold the turns that are as expected; many in a row also together, so that the first turn
    that differs is on the first screen."""
    numbered = list(enumerate(view.turns, 1))
    good = _is_good(view)

    def is_shown(item: tuple[int, TurnView]) -> bool:
        return turn_differs(item[1]) or item[0] == chosen

    for shown, part in groupby(numbered, key=is_shown):
        items = list(part)
        turns = [_turn(number, turn, fold=not shown, good=good) for number, turn in items]
        if shown or len(items) < _MANY_TURNS:
            yield from turns
        else:
            title = f"Turns {items[0][0]:,} to {items[-1][0]:,} are as expected "
            summary = tag("summary", title, sign("passed"))
            yield tag("details", summary, turns, class_="turn stretch")


def turn_links(view: CaseView) -> Markup:
    """Link to the turns; of a long conversation only to those that differ."""
    turns = list(enumerate(view.turns, 1))
    good = _is_good(view)
    if len(turns) > _FEW_TURNS:
        turns = [(number, turn) for number, turn in turns if turn_differs(turn)]
    links = [
        [
            tag(
                "a",
                f"{number} ",
                _turn_sign(turn, good=good),
                href=f"#turn-{number}",
            ),
            " ",
        ]
        for number, turn in turns
    ]
    total = len(view.turns)
    differ = "differs" if len(turns) == 1 else "differ"
    name = f"{len(turns):,} of {total:,} turns {differ}" if len(turns) < total else "Turns"
    return tag("nav", tag("span", name), links, class_="pages", aria_label="Turns")


def _is_good(view: CaseView) -> bool:
    return view.attempts[view.attempt - 1].result.status in ("passed", "info")


def _turn_sign(turn: TurnView, *, good: bool) -> Markup | None:
    """Return how a turn went. In a case that passed, what differs is not wrong."""
    if not turn_differs(turn):
        return sign("passed")
    if good:
        return tag("span", "≠", class_="sign quiet", role="img", aria_label="differs")
    return sign("failed")


def _turn(number: int, turn: TurnView, *, fold: bool, good: bool) -> Markup:
    differs = turn_differs(turn)
    user = (turn.expected or turn.actual or Turn()).user
    status = _turn_sign(turn, good=good)
    body = [
        user_pair(turn.expected, turn.actual),
        agents_pair(turn.expected, turn.actual),
        _calls(turn),
        _responses(turn),
    ]
    if fold and not differs:
        shown = (user or "(not recorded)")[:300]
        summary = tag("summary", f"Turn {number} ", status, tag("span", shown, class_="clamp"))
        return tag("details", summary, body, class_="turn", id=f"turn-{number}")
    title = tag("h3", f"Turn {number} ", status, id=f"turn-{number}")
    return tag("article", title, body, class_="turn")


def _calls(turn: TurnView) -> Child:
    results = turn.actual.tool_results if turn.actual else ()
    if turn.script is not None:
        return [call_pair(step, results) for step in turn.script]
    expected = turn.expected.tool_calls if turn.expected else None
    actual = turn.actual.tool_calls if turn.actual else None
    if not expected and not actual:
        return None
    return tag(
        "div",
        tag("div", [plain_call(call) for call in expected or ()]),
        tag("div", [plain_call(call, results) for call in actual or ()]),
        class_="pair",
    )


def _responses(turn: TurnView) -> Markup:
    expected = turn.expected.response if turn.expected else None
    actual = turn.actual.response if turn.actual else None
    return response_pair(
        expected,
        actual,
        missing_turn=turn.actual is None,
        extra_turn=turn.expected is None,
    )
