"""Messages and tool calls, expected beside actual."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.html.parts import breakable
from carob.report.markup import Child, Markup, tag
from carob.report.text_diff import compare_json
from carob.schema import Json, ToolCall, ToolResult, Turn
from carob.schema.edit_script import ArgumentChange, EditStep
from carob.server.pages.texts import (
    MAX_VALUE,
    RAW,
    diff_words,
    long_text,
    long_value,
    private_text,
    value_text,
)

_NOT_RECORDED = "(not recorded)"
_ORIGINS = {"mocked": "mocked", "missed": "no mock"}


def plain_turn(
    who: str, text: str | None, *, raw: str | None = None, mark_private: bool = False
) -> Markup:
    """Return what somebody said; with `mark_private`, personal data and secrets are marked. `raw`
    is the address of all of a very long text."""
    if text is None:
        shown: Child = _NOT_RECORDED
    else:
        shown = private_text(text) if mark_private else long_text(text, raw=raw)
    return _message(who, shown, quiet=text is None)


def _message(who: str, content: Child, *, quiet: bool = False) -> Markup:
    return tag(
        "div",
        tag("span", breakable(who), class_="who"),
        tag("div", content, class_="text quiet" if quiet else "text", dir="auto"),
        class_="said",
    )


def agents_pair(expected: Turn | None, actual: Turn | None) -> Markup | None:
    """Return which agents worked on a turn, if more than one did, and what they said on the way."""
    golden, acted = (turn.agents if turn else () for turn in (expected, actual))
    messages = actual.messages if actual else ()
    if len({*golden, *acted}) < 2 and not messages:
        return None
    differ = bool(golden) and golden != acted
    left = _agents(golden, "del" if differ else None)
    said = [_message(message.agent, long_text(message.text)) for message in messages]
    right = [_agents(acted, "ins" if differ else None), said]
    return tag("div", tag("div", left), tag("div", right), class_="pair team")


def plain_agents(turn: Turn) -> Markup | None:
    """Return which agents worked on a turn, if more than one did, and what they said on the way."""
    if len(set(turn.agents)) < 2 and not turn.messages:
        return None
    said = [_message(message.agent, long_text(message.text)) for message in turn.messages]
    return tag("div", _agents(turn.agents, None), said, class_="team")


def _agents(agents: Sequence[str], mark: str | None) -> Markup | None:
    if not agents:
        return None
    arrows: list[Child] = [
        [" → " if place else None, tag("bdi", name)] for place, name in enumerate(agents)
    ]
    return _message("agents", tag(mark, arrows) if mark else arrows)


def user_pair(expected: Turn | None, actual: Turn | None) -> Markup:
    """Return what the user said: once, or on both sides if the trace has another message."""
    golden, sent = (turn.user if turn else None for turn in (expected, actual))
    if golden is None or sent is None or golden.split() == sent.split():
        text = sent if golden is None else golden
        return tag("div", plain_turn("user", text, raw=RAW), class_="user")
    left, right = diff_words(golden, sent, raw=RAW)
    return tag("div", _message("user", left), _message("user", right), class_="user pair")


def response_pair(
    expected: str | None,
    actual: str | None,
    *,
    missing_turn: bool = False,
    extra_turn: bool = False,
    raw: str = RAW,
) -> Markup:
    """Return both responses, with the words marked that differ. `raw` is the address of all of
    very long ones."""
    if expected is not None and actual is not None and expected != actual:
        left, right = diff_words(expected, actual, raw=raw)
    else:
        left = _side(expected, "(no such turn)" if extra_turn else "(no answer stated)", raw)
        right = _side(actual, "(no such turn)" if missing_turn else _NOT_RECORDED, raw)
    pair = tag("div", _message("expected", left), _message("agent", right), class_="pair")
    return tag("div", pair, _json_paths(expected, actual))


def _side(text: str | None, instead: str, raw: str) -> Markup:
    return tag("span", instead, class_="quiet") if text is None else long_text(text, raw=raw)


def _json_paths(expected: str | None, actual: str | None) -> Markup | None:
    if expected is None or actual is None or expected == actual:
        return None
    differences = compare_json(expected, actual)
    if not differences:
        return None
    items = [
        tag(
            "li",
            tag("code", item.path),
            " ",
            tag("del", item.expected) if item.expected is not None else None,
            " ",
            tag("ins", item.actual) if item.actual is not None else None,
        )
        for item in differences
    ]
    return tag("ul", items, class_="paths", aria_label="Differences by path")


def call_pair(step: EditStep, results: Sequence[ToolResult], *, raw: str = RAW) -> Markup:
    """Return one step of the edit script: the expected call beside the actual one. `raw` is the
    address of all of very long values."""
    result = _result(step.actual, results, raw)
    match step.kind:
        case "missing":
            left = _call(step.expected, "del", raw)
            right = tag("p", "✗ not called", class_="failed said-note")
        case "unexpected":
            left = tag("p", "no call expected", class_="quiet said-note")
            right = _call(step.actual, "ins", raw, result)
        case _:
            left = _arguments(step, "expected", raw)
            right = _arguments(step, "actual", raw, result)
    return tag("div", left, right, class_=f"pair step {step.kind}")


def plain_call(
    call: ToolCall, results: Sequence[ToolResult] = (), *, mark_private: bool = False
) -> Markup:
    """Return a call with its arguments and what the tool answered."""
    args = call.args if isinstance(call.args, dict) else {"": call.args}
    texts = {name: value_text(value) for name, value in args.items()}
    lines = [
        _line(name, private_text(text) if mark_private else long_value(text))
        for name, text in texts.items()
    ]
    return tag(
        "div",
        _title(call),
        lines if call.args is not None else None,
        _result(call, results, None),
        class_="call",
    )


def _result(call: ToolCall | None, results: Sequence[ToolResult], raw: str | None) -> Markup | None:
    """Return what a tool answered, or why it failed."""
    found = next((r for r in results if call and call.id is not None and r.id == call.id), None)
    if found is None:
        return None
    origin = _ORIGINS.get(found.origin or "")
    note = tag("small", origin) if origin else None
    if found.error is not None:
        failure = long_value(found.error, raw=raw)
        return tag("div", "! failed: ", failure, note, class_="error", dir="auto")
    answer = long_value(value_text(found.result), raw=raw)
    return tag("div", "→ ", answer, note, class_="quiet", dir="auto")


def _title(call: ToolCall, mark: str | None = None, *, acted: bool = True) -> Markup:
    """Return the name of a call, who makes it, and how long it took."""
    name = tag(mark, call.name) if mark else call.name
    agent = tag("span", tag("bdi", call.agent), class_="quiet by") if call.agent else None
    took = None
    if acted and call.start is not None and call.end is not None:
        took = tag("span", f"{(call.end - call.start) / 1e6:,.0f} ms", class_="quiet")
    return tag("p", tag("bdi", name), agent, took, class_="tool")


def _call(
    call: ToolCall | None, mark: str, raw: str, result: Markup | None = None
) -> Markup | None:
    if call is None:
        return None
    args = call.args if isinstance(call.args, dict) else {"": call.args}
    lines = [
        _line(name, tag(mark, long_value(value_text(value), raw=raw)))
        for name, value in args.items()
    ]
    return tag(
        "div",
        _title(call, mark),
        lines if call.args is not None else None,
        result,
        class_=f"call {mark}-call",
    )


def _arguments(step: EditStep, side: str, raw: str, result: Markup | None = None) -> Markup:
    call = step.expected if side == "expected" else step.actual
    lines = [_argument(item, side, raw) for item in step.arguments]
    title = _title(call, acted=side == "actual") if call else None
    return tag("div", title, lines, result, class_=f"call {side}")


def _argument(item: ArgumentChange, side: str, raw: str) -> Markup | None:
    value: Json = item.expected if side == "expected" else item.actual
    absent = "unexpected" if side == "expected" else "missing"
    if item.kind == absent:
        return _line(item.name, tag("span", "not given", class_="quiet"))
    if item.kind == "same":
        return _line(item.name, long_value(value_text(value), raw=raw))
    if item.kind == "different":
        pair = diff_words(value_text(item.expected), value_text(item.actual), MAX_VALUE, raw=raw)
        shown = pair[0] if side == "expected" else pair[1]
    else:
        mark = "del" if side == "expected" else "ins"
        shown = tag(mark, long_value(value_text(value), raw=raw))
    why = tag("span", " ← why this failed", class_="why") if side == "actual" else None
    return _line(item.name, [tag("bdi", shown), why])


def _line(name: str, value: Child) -> Markup:
    return tag(
        "div",
        tag("span", name, class_="argument"),
        tag("span", value, class_="value", dir="auto"),
        class_="line",
    )
