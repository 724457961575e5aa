"""What case and trace hold, as text for a judge.

Several things in one part are told apart by headings. Headings are ours and start a line; what
stands below is anybody's and is indented, so that no text can make up a turn or a result.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from carob.metrics.tools.activity import calls_with_results
from carob.schema import AgentMessage, Json, ToolCall, ToolResult, Turn

_encode = msgspec.json.Encoder().encode


def plain(value: Json) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else _encode(value).decode()


def entry(heading: str, text: str) -> str:
    """A heading, and a text that cannot be taken for one."""
    lines = text.splitlines() or ["(empty)"]
    return "\n".join([heading, *(f"    {line}" for line in lines)])


def several(texts: Sequence[tuple[str, str]]) -> str:
    """Texts under their headings; one that is alone needs none."""
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(entry(heading, text) for heading, text in texts)


def calls(found: Iterable[ToolCall]) -> str:
    """Tool calls, one to a line."""
    return "\n".join(map(call, found)) or "(no tool is called)"


def call(one: ToolCall) -> str:
    told = {"name": one.name, "args": one.args, "outcome": one.outcome, "reason": one.reason}
    return plain({key: value for key, value in told.items() if value is not None})


def result(one: ToolResult) -> str:
    told: dict[str, Json] = {"name": one.name, "result": one.result, "error": one.error}
    return plain({key: value for key, value in told.items() if value is not None})


def message(one: AgentMessage) -> str:
    return f"{one.agent}: {one.text}" if one.agent else one.text


def steps(turns: Iterable[Turn]) -> str:
    """Each tool call with what the tool answered."""
    made: list[str] = []
    for turn in turns:
        for one, answer in calls_with_results(turn):
            made.append(entry("tool call", call(one)))
            made += [entry("tool result", result(answer))] if answer else []
    return "\n".join(made) or "(no tool was called)"


def dialogue(turns: Sequence[Turn]) -> str | None:
    """A conversation; `None` if nothing of what the agent said was recorded."""
    if all(turn.response is None for turn in turns):
        return None
    return "\n".join(line for number, turn in enumerate(turns, 1) for line in _said(number, turn))


def _said(number: int, turn: Turn) -> list[str]:
    made: list[str] = []
    if turn.user is not None:
        made.append(entry(f"turn {number}, user", turn.user))
    for one, answer in calls_with_results(turn):
        made.append(entry(f"turn {number}, tool call", call(one)))
        made += [entry(f"turn {number}, tool result", result(answer))] if answer else []
    made += [entry(f"turn {number}, on the way", message(one)) for one in turn.messages]
    if turn.response is None:
        return [*made, f"turn {number}, response (it was not recorded)"]
    return [*made, entry(f"turn {number}, response", turn.response)]
