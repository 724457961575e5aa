"""Values in the rows of other tools: texts, messages, contexts and tool calls in any shape."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from carob.datasets.patch import Object
from carob.schema import Json, Rubric, ToolCall, Turn
from carob.schema.assertion import ASSERTIONS, stated_assertions

INPUT_NAMES = (
    "question",
    "input",
    "query",
    "user_input",
    "prompt",
    "user_query",
    "user_message",
    "user_prompt",
    "utterance",
    "instruction",
    "message",
    "text",
)
"""The common names of the user message, most common first."""
EXPECTED_NAMES = (
    "expected_output",
    "expected",
    "ground_truth",
    "expected_answer",
    "reference_answer",
    "expected_response",
    "target",
    "reference",
    "reference_response",
    "correct_answer",
    "ground_truth_answer",
    "gold_answer",
    "golden_answer",
    "ideal_answer",
    "ideal",
    "answer",
    "output",
)
"""The common names of the expected answer. `answer` beside one of the others is a recorded one."""
_CRITERION_NAMES = ("text", "description", "criterion", "criteria", "assertion", "expectation",
    "rubric", "check", "requirement", "statement")  # fmt: skip
_NO_TOOL = ("", "-", "none", "null", "n/a", "no tool", "no_tool")
_CALL_NAMES = ("name", "tool_name", "tool", "function")
_ARGS_NAMES = (
    "args",
    "arguments",
    "input_parameters",
    "inputParameters",
    "tool_input",
    "input_arguments",
    "input",
)
_LITERAL_LIMIT = 1_000_000
_EXCLUDES, _FORBIDDEN_TOOL = "not-icontains", "not-trajectory:tool-used"


def as_text(value: Json) -> str | None:
    """A value as text: numbers and objects as JSON. `None` for null and for several texts."""
    match value:
        case None | str():
            return value
        case list() if len(value) == 1 and isinstance(value[0], str):
            return value[0]
        case list():
            return None
        case _:
            return msgspec.json.encode(value).decode()


def find_text(value: Json, names: tuple[str, ...]) -> str | None:
    """The text of a value, or of its member with a common name, or of its only member."""
    if not isinstance(value, dict):
        return as_text(value)
    key = next((name for name in names if isinstance(value.get(name), str)), None)
    if key is None and len(value) == 1:
        key = next(iter(value))
    return as_text(value[key] if key is not None else value)


def is_messages(value: Json) -> bool:
    """Whether a value is a list of chat messages."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            isinstance(item, dict) and "content" in item and ("role" in item or "type" in item)
            for item in value
        )
    )


def read_turns(value: Json) -> tuple[Turn, ...]:
    """The user messages of an input: a text, an object, or chat messages."""
    if isinstance(value, dict) and is_messages(value.get("messages")):
        value = value["messages"]
    if _is_exchanges(value):
        return tuple(_read_exchange(turn) for turn in cast("list[Object]", value))
    if not is_messages(value):
        text = find_text(value, INPUT_NAMES)
        return () if text is None else (Turn(user=text),)
    messages = cast("list[Object]", value)
    return tuple(
        Turn(user=_content(message["content"])) for message in messages if _is_user(message)
    )


def _is_exchanges(value: Json) -> bool:
    """Whether a value is a list of turns, each with a question and perhaps its answer."""
    return (
        isinstance(value, list)
        and bool(value)
        and not is_messages(value)
        and all(isinstance(turn, dict) and _read_exchange(turn).user for turn in value)
    )


def _read_exchange(turn: Object) -> Turn:
    names = ("user", *INPUT_NAMES)
    user = next((turn[name] for name in names if isinstance(turn.get(name), str)), None)
    response = next((turn[k] for k in EXPECTED_NAMES if isinstance(turn.get(k), str)), None)
    return Turn(user=cast("str | None", user), response=cast("str | None", response))


def is_columns(value: Json) -> bool:
    """Whether a value is a list of several texts: a column of a table, not one message."""
    return (
        isinstance(value, list) and len(value) > 1 and all(isinstance(text, str) for text in value)
    )


def _is_user(message: Object) -> bool:
    return message.get("role", message.get("type")) in ("user", "human")


def _content(value: Json) -> str | None:
    if isinstance(value, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in value]
        return "\n".join(part for part in parts if isinstance(part, str))
    return as_text(value)


def parse_cell(cell: Json) -> Json:
    """A table cell that holds JSON or a Python literal; other texts stay texts."""
    if not isinstance(cell, str) or not cell.lstrip().startswith(("[", "{")):
        return cell
    try:
        return cast("Json", msgspec.json.decode(cell))
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass
    if len(cell) > _LITERAL_LIMIT:
        return cell
    try:  # pandas writes lists as Python does
        value = ast.literal_eval(cell.strip())
        return cast("Json", msgspec.json.decode(msgspec.json.encode(value)))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError, msgspec.MsgspecError):
        return cell


def read_texts(value: Json, separators: str = "") -> tuple[str, ...] | None:
    """A list of texts, or a text that lists them; `None` if it is anything else."""
    value = parse_cell(value)
    if isinstance(value, str):
        mark = next((mark for mark in separators if mark in value), None)
        parts = value.split(mark) if mark else [value]
        return tuple(part.strip() for part in parts if part.strip())
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return tuple(cast("list[str]", value))
    return None


def read_criteria(value: Json) -> tuple[Rubric, ...]:
    """Rubrics: texts, or objects with a text and perhaps an id."""
    value = parse_cell(value)
    values: list[Json] = value if isinstance(value, list) else [value]
    return tuple(
        rubric
        for number, item in enumerate(values, 1)
        if (rubric := _read_criterion(item, f"rubric-{number}"))
    )


def _read_criterion(value: Json, default: str) -> Rubric | None:
    if not isinstance(value, dict):
        return Rubric(id=default, text=value) if isinstance(value, str) and value.strip() else None
    text = next((value[key] for key in _CRITERION_NAMES if isinstance(value.get(key), str)), None)
    name = next((value[key] for key in ("id", "name") if isinstance(value.get(key), str)), default)
    return Rubric(id=str(name or default), text=text) if isinstance(text, str) and text else None


def read_calls(value: Json) -> tuple[ToolCall, ...] | None:
    """Expected tool calls: names, or objects with a name and arguments."""
    value = parse_cell(value)
    if isinstance(value, str) and value.strip().lower() in _NO_TOOL:
        return ()
    if isinstance(value, str):
        value = list[Json](read_texts(value, "|;,") or ()) if "(" not in value else [value]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return None
    calls = [_read_call(item) for item in value]
    return None if None in calls else tuple(call for call in calls if call)


def _read_call(value: Json) -> ToolCall | None:
    if isinstance(value, str):
        return ToolCall(name=value.partition("(")[0].strip())
    if not isinstance(value, dict):
        return None
    inner = value.get("function")
    if isinstance(inner, dict):
        return _read_call(inner)
    name = next((value[key] for key in _CALL_NAMES if isinstance(value.get(key), str)), None)
    args = next((value[key] for key in _ARGS_NAMES if value.get(key) is not None), None)
    return ToolCall(name=name, args=parse_cell(args)) if isinstance(name, str) and name else None


def write_calls(calls: tuple[ToolCall, ...] | None, name: str, args: str) -> Json:
    """Expected tool calls as objects."""
    if calls is None:
        return None
    return [{name: call.name, **({} if call.args is None else {args: call.args})} for call in calls]


def forbid(texts: Iterable[str], tools: Iterable[ToolCall]) -> dict[str, Json]:
    """The reference with what an answer must not contain, in any case, and tools not to call."""
    pairs = [*((_EXCLUDES, text) for text in texts), *((_FORBIDDEN_TOOL, it.name) for it in tools)]
    assertions: list[Json] = [{"type": kind, "value": value} for kind, value in pairs]
    return {ASSERTIONS: assertions} if assertions else {}


def find_forbidden(reference: Mapping[str, Json]) -> tuple[list[Json], list[Json]]:
    """The texts and the tools that the reference of a case forbids."""
    stated = cast("list[Object]", stated_assertions(reference))
    texts, tools = (
        [item["value"] for item in stated if item["type"] == kind and "value" in item]
        for kind in (_EXCLUDES, _FORBIDDEN_TOOL)
    )
    return texts, tools
