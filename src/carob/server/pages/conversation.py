"""Messages and tool calls, expected beside actual."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.markup import Child, Markup, tag
from carob.report.text_diff import compare_json
from carob.schema import Json, ToolCall, ToolResult, Turn
from carob.schema.edit_script import ArgumentChange, EditStep
from carob.server.pages.parts import diff_words, long_text, value_text

_NOT_RECORDED = "(not recorded)"
_MAX_RESULT = 400


def plain_turn(who: str, text: str | None) -> Markup:
    """Return what somebody said."""
    shown = _NOT_RECORDED if text is None else long_text(text)
    return _message(who, shown, quiet=text is None)


def _message(who: str, content: Child, *, quiet: bool = False) -> Markup:
    return tag(
        "div",
        tag("span", who, class_="who"),
        tag("div", content, class_="text quiet" if quiet else "text", dir="auto"),
        class_="said",
    )


def user_pair(expected: Turn | None, actual: Turn | None) -> Markup:
    """Return what the user said: once, or on both sides if the trace has another message."""
    golden, sent = (turn.user if turn else None for turn in (expected, actual))
    if golden is None or sent is None or golden.split() == sent.split():
        return tag("div", plain_turn("user", sent if golden is None else golden), class_="user")
    left, right = diff_words(golden, sent)
    return tag("div", _message("user", left), _message("user", right), class_="user pair")


def response_pair(
    expected: str | None,
    actual: str | None,
    *,
    missing_turn: bool = False,
    extra_turn: bool = False,
) -> Markup:
    """Return both responses, with the words marked that differ."""
    if expected is not None and actual is not None and expected != actual:
        left, right = diff_words(expected, actual)
    else:
        left = _side(expected, "(no such turn)" if extra_turn else "(no answer stated)")
        right = _side(actual, "(no such turn)" if missing_turn else _NOT_RECORDED)
    pair = tag("div", _message("expected", left), _message("agent", right), class_="pair")
    return tag("div", pair, _json_paths(expected, actual))


def _side(text: str | None, instead: str) -> Markup:
    return tag("span", instead, class_="quiet") if text is None else long_text(text)


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


def call_pair(step: EditStep, results: Sequence[ToolResult]) -> Markup:
    """Return one step of the edit script: the expected call beside the actual one."""
    match step.kind:
        case "missing":
            left = _call(step.expected, "del")
            right = tag("p", "✗ not called", class_="failed said-note")
        case "unexpected":
            left = tag("p", "no call expected", class_="quiet said-note")
            right = _call(step.actual, "ins", _result(step.actual, results))
        case _:
            result = _result(step.actual, results)
            left, right = _arguments(step, "expected"), _arguments(step, "actual", result)
    return tag("div", left, right, class_=f"pair step {step.kind}")


def plain_call(call: ToolCall, results: Sequence[ToolResult] = ()) -> Markup:
    """Return a call with its arguments and what the tool answered."""
    args = call.args if isinstance(call.args, dict) else {"": call.args}
    lines = [_line(name, long_text(value_text(value))) for name, value in args.items()]
    return tag(
        "div",
        tag("p", call.name, _took(call), class_="tool"),
        lines if call.args is not None else None,
        _result(call, results),
        class_="call",
    )


def _result(call: ToolCall | None, results: Sequence[ToolResult]) -> Markup | None:
    """Return what a tool answered, in one line."""
    found = next((r for r in results if call and call.id is not None and r.id == call.id), None)
    if found is None:
        return None
    text = found.error if found.error is not None else value_text(found.result)
    return tag("div", f"→ {text[:_MAX_RESULT]}", class_="quiet", dir="auto")


def _took(call: ToolCall | None) -> Markup | None:
    if call is None or call.start is None or call.end is None:
        return None
    return tag("span", f"{(call.end - call.start) / 1e6:,.0f} ms", class_="quiet")


def _call(call: ToolCall | None, mark: str, result: Markup | None = None) -> Markup | None:
    if call is None:
        return None
    args = call.args if isinstance(call.args, dict) else {"": call.args}
    lines = [_line(name, tag(mark, value_text(value))) for name, value in args.items()]
    return tag(
        "div",
        tag("p", tag(mark, call.name), _took(call), class_="tool"),
        lines if call.args is not None else None,
        result,
        class_=f"call {mark}-call",
    )


def _arguments(step: EditStep, side: str, result: Markup | None = None) -> Markup:
    call = step.expected if side == "expected" else step.actual
    lines = [_argument(item, side) for item in step.arguments]
    name = call.name if call else ""
    took = _took(call) if side == "actual" else None
    return tag("div", tag("p", name, took, class_="tool"), lines, result, class_=f"call {side}")


def _argument(item: ArgumentChange, side: str) -> Markup | None:
    value: Json = item.expected if side == "expected" else item.actual
    absent = "unexpected" if side == "expected" else "missing"
    if item.kind == absent:
        return _line(item.name, tag("span", "not given", class_="quiet"))
    if item.kind == "same":
        return _line(item.name, long_text(value_text(value)))
    if item.kind == "different":
        pair = diff_words(value_text(item.expected), value_text(item.actual))
        shown = pair[0] if side == "expected" else pair[1]
    else:
        shown = tag("del" if side == "expected" else "ins", value_text(value))
    why = tag("span", " ← why this failed", class_="why") if side == "actual" else None
    return _line(item.name, [shown, why])


def _line(name: str, value: Child) -> Markup:
    return tag(
        "div",
        tag("span", name, class_="argument"),
        tag("span", value, class_="value", dir="auto"),
        class_="line",
    )
