"""Tool calls of cases and traces: which there are, and how reasons describe them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.schema import Case, Json, ToolCall, ToolResult, Trace, Turn, Unscored

_WIDTH = 60
_ADK_FORMATS = frozenset({"adk", "adk-history"})
NOT_RECORDED = Unscored(reason="tool calls were not recorded")
EXPECTS_NONE = Unscored(reason="the case expects no tool calls", not_applicable=True)


def format_call(call: ToolCall) -> str:
    """Format a call, such as `get_weather(city='Paris')`."""
    if not isinstance(call.args, dict):
        return call.name if call.args is None else f"{call.name}({format_value(call.args)})"
    args = ", ".join(f"{key}={format_value(arg)}" for key, arg in call.args.items())
    return f"{call.name}({args})"


def format_calls(calls: Sequence[ToolCall]) -> str:
    """Format calls on one line."""
    return ", ".join(map(format_call, calls)) or "no calls"


def format_value(value: Json) -> str:
    """Format a value, truncated to a length that fits into a reason."""
    text = repr(value)
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"


def recorded_calls(trace: Trace) -> tuple[ToolCall, ...] | None:
    """Return all calls of a trace; `None` if those of any turn were not recorded."""
    calls: list[ToolCall] = []
    for turn in trace.turns:
        if turn.tool_calls is None:
            return None
        calls.extend(turn.tool_calls)
    return tuple(calls)


def expects_calls_by_turn(case: Case) -> bool:
    """Tell whether the case expects calls turn by turn; then a turn that states none expects none.

    ADK's data always does: where `intermediate_data` is missing, ADK expects no call.
    """
    return _states_calls_by_turn(case) or (
        bool(case.turns) and case.tool_calls is None and _is_from_adk(case)
    )


def _states_calls_by_turn(case: Case) -> bool:
    for turn in case.turns:  # noqa: SIM110 - runs for every pair, and `any` takes twice as long
        if turn.tool_calls is not None:
            return True
    return False


def _is_from_adk(case: Case) -> bool:
    return case.origin is not None and case.origin.format.partition(".")[0] in _ADK_FORMATS


def unrecorded_calls(case: Case, trace: Trace) -> Unscored | None:
    """Return why calls by turn cannot be compared, if the calls of no turn were recorded.

    A case that states no call is not held back by a trace that has none.
    """
    for turn in trace.turns:  # a loop, as above
        if turn.tool_calls is not None:
            return None
    return NOT_RECORDED if _states_calls_by_turn(case) else EXPECTS_NONE


def calls_with_results(turn: Turn) -> Iterator[tuple[ToolCall, ToolResult | None]]:
    """Pair each call with its result: by id, else with the next unused result of that tool."""
    by_id = {result.id: result for result in turn.tool_results if result.id is not None}
    unused = [result for result in turn.tool_results if result.id is None]
    for call in turn.tool_calls or ():
        result = by_id.get(call.id) if call.id is not None else None
        if result is None:
            result = next((other for other in unused if other.name in (None, call.name)), None)
            if result is not None:
                unused.remove(result)
        yield call, result


def argument_differences(expected: Json, actual: Json) -> list[str]:
    """Describe how arguments differ, one line per difference."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        if expected == actual:
            return []
        return [f"expected {_format_args(expected)}, got {_format_args(actual)}"]
    lines: list[str] = []
    for key, arg in expected.items():
        if key not in actual:
            lines.append(f"{key}: expected {format_value(arg)}, got nothing")
        elif actual[key] != arg:
            lines.append(f"{key}: expected {format_value(arg)}, got {format_value(actual[key])}")
    for key, arg in actual.items():
        if key not in expected:
            lines.append(f"{key}: unexpected {format_value(arg)}")
    return lines


def _format_args(args: Json) -> str:
    return "no arguments" if args is None else format_value(args)
