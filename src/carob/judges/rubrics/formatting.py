"""Format cases and traces as text for a judge.

Items in one part are separated by headings. Only headings start a line: the untrusted text below
them is indented, so that no text can fake a turn or a tool result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from carob.metrics.tools.activity import calls_with_results
from carob.schema import AgentMessage, Json, ToolCall, ToolResult, Turn

_encode = msgspec.json.Encoder().encode


def to_text(value: Json) -> str:
    """Return a string as it is, and anything else as JSON."""
    return value if isinstance(value, str) else _encode(value).decode()


def with_heading(heading: str, text: str) -> str:
    """Return a heading with an indented text below it."""
    lines = text.splitlines() or ["(empty)"]
    return "\n".join([heading, *(f"    {line}" for line in lines)])


def with_headings(texts: Sequence[tuple[str, str]]) -> str:
    """Return texts below their headings; a single text needs none."""
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(with_heading(heading, text) for heading, text in texts)


def format_calls(calls: Iterable[ToolCall]) -> str:
    """Return tool calls, one per line."""
    return "\n".join(map(format_call, calls)) or "(no tool is called)"


def format_call(call: ToolCall) -> str:
    fields = {"name": call.name, "args": call.args, "outcome": call.outcome, "reason": call.reason}
    return to_text({key: value for key, value in fields.items() if value is not None})


def format_result(result: ToolResult) -> str:
    fields: dict[str, Json] = {
        "name": result.name,
        "result": result.result,
        "error": result.error,
    }
    return to_text({key: value for key, value in fields.items() if value is not None})


def format_message(message: AgentMessage) -> str:
    return f"{message.agent}: {message.text}" if message.agent else message.text


def format_steps(turns: Iterable[Turn]) -> str:
    """Return each tool call with its result."""
    lines = [line for turn in turns for line in _call_lines(turn, "")]
    return "\n".join(lines) or "(no tool was called)"


def format_dialogue(turns: Sequence[Turn]) -> str | None:
    """Return a conversation; `None` if no response was recorded."""
    if all(turn.response is None for turn in turns):
        return None
    numbered = enumerate(turns, 1)
    return "\n".join(line for number, turn in numbered for line in _turn_lines(number, turn))


def _turn_lines(number: int, turn: Turn) -> list[str]:
    prefix = f"turn {number}, "
    lines = [] if turn.user is None else [with_heading(f"{prefix}user", turn.user)]
    lines += _call_lines(turn, prefix)
    lines += [
        with_heading(f"{prefix}on the way", format_message(message)) for message in turn.messages
    ]
    if turn.response is None:
        return [*lines, f"{prefix}response (it was not recorded)"]
    return [*lines, with_heading(f"{prefix}response", turn.response)]


def _call_lines(turn: Turn, prefix: str) -> list[str]:
    lines: list[str] = []
    for call, result in calls_with_results(turn):
        lines.append(with_heading(f"{prefix}tool call", format_call(call)))
        if result:
            lines.append(with_heading(f"{prefix}tool result", format_result(result)))
    return lines
