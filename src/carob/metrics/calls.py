"""Tool calls in words, for the reasons of the metrics that compare them."""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Case, Json, ToolCall, Trace

_WIDTH = 60


def shown(call: ToolCall) -> str:
    """`get_weather(city='Paris')`."""
    if not isinstance(call.args, dict):
        return call.name if call.args is None else f"{call.name}({value(call.args)})"
    return f"{call.name}({', '.join(f'{key}={value(arg)}' for key, arg in call.args.items())})"


def value(thing: Json) -> str:
    """A value as people write it, cut where it gets long."""
    text = repr(thing)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


def listed(calls: Sequence[ToolCall]) -> str:
    """Calls in one line."""
    return ", ".join(map(shown, calls)) or "no calls"


def recorded(trace: Trace) -> tuple[ToolCall, ...] | None:
    """All calls of a trace; `None` if those of any turn were not recorded."""
    calls: list[ToolCall] = []
    for turn in trace.turns:
        if turn.tool_calls is None:
            return None
        calls.extend(turn.tool_calls)
    return tuple(calls)


def stated_by_turn(case: Case) -> bool:
    """Whether the case says in which turn its calls are expected."""
    for turn in case.turns:  # noqa: SIM110 - asked for every pair, and `any` takes twice as long
        if turn.tool_calls is not None:
            return True
    return False


def differences(expected: Json, actual: Json) -> list[str]:
    """How the arguments differ, one line each."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return [] if expected == actual else [f"expected {_args(expected)}, got {_args(actual)}"]
    lines: list[str] = []
    for key, arg in expected.items():
        if key not in actual:
            lines.append(f"{key}: expected {value(arg)}, got nothing")
        elif actual[key] != arg:
            lines.append(f"{key}: expected {value(arg)}, got {value(actual[key])}")
    for key, arg in actual.items():
        if key not in expected:
            lines.append(f"{key}: unexpected {value(arg)}")
    return lines


def _args(args: Json) -> str:
    return "no arguments" if args is None else value(args)
