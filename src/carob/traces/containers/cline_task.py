"""Cline and Roo Code in editors: the requests of a task (`api_conversation_history.json`).

The messages are those of Anthropic's API, but without native tools a call is XML in the text of the
assistant, and its result and what the user writes are marked texts in the user's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.messages.chat import add_chat_message, is_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_object, as_text, objects_in

_TOOLS = frozenset(
    (
        "access_mcp_resource",
        "apply_diff",
        "browser_action",
        "codebase_search",
        "execute_command",
        "fetch_instructions",
        "insert_content",
        "list_code_definition_names",
        "list_files",
        "new_task",
        "read_file",
        "replace_in_file",
        "search_files",
        "switch_mode",
        "update_todo_list",
        "use_mcp_tool",
        "web_fetch",
        "write_to_file",
    )
)
_ANSWERS = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
"""The tools with which the assistant answers the user, and the parameter that has the answer."""
_WRITTEN = frozenset(("task", "feedback", "user_message", "answer"))
"""The elements with what the user wrote; the rest of a message is what the program adds."""
_TAG = re.compile(r"<(\w+)>")
_RESULT = re.compile(r"\A\[(\w+)[^\]]*\] Result:\s*(.*)\Z", re.DOTALL)
_ENVIRONMENT = "<environment_details>"
_FAILED = "The tool execution failed"
_MAX_DEPTH = 4
_MAX_OPEN = 50
"""Tags that are never closed, after which a text is not searched further."""


class ClineTask:
    """Messages of which the first has a text that begins with `<task>`."""

    name = "cline-task"

    def claims(self, item: Json) -> bool:
        messages = as_array(item)
        if not messages or not all(map(is_message, messages)):
            return False
        first = as_object(messages[0])
        texts = _texts(first)
        return first.get("role") == "user" and bool(texts) and texts[0].startswith("<task>")

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        messages = objects_in(item)
        builder = TurnBuilder()
        for message in messages:
            if message.get("role") == "user":
                _add_user(builder, message)
            else:
                _add_answer(builder, message)
            builder.add_time(instant(message.get("ts")))
        yield Trace(
            id=content_digest_id([*messages]),
            turns=builder.turns(),
            source=source,
            convention="cline-task",
            mapper="cline-task@1",
        )


def _texts(message: dict[str, Json]) -> list[str]:
    content = message.get("content")
    if isinstance(content, str):
        return [content.strip()]
    return [(as_text(block.get("text")) or "").strip() for block in objects_in(content)]


def _add_user(builder: TurnBuilder, message: dict[str, Json]) -> None:
    results: list[Json] = [
        block for block in objects_in(message.get("content")) if block.get("type") == "tool_result"
    ]
    if results:
        add_chat_message(builder, {"role": "user", "content": results})
    pending: str | None = None
    for text in _texts(message):
        if text.startswith(_ENVIRONMENT):
            continue
        if match := _RESULT.match(text):
            pending = None if match[2] else match[1]
            if match[2]:
                _add_result(builder, match[1], match[2])
        elif pending is not None:  # the result is the text after its heading
            _add_result(builder, pending, text)
            pending = None
        else:
            _add_written(builder, text)


def _add_result(builder: TurnBuilder, name: str, text: str) -> None:
    if name not in _ANSWERS:
        error = text if text.startswith(_FAILED) else None
        builder.add_result(ToolResult(name=name, result=text, error=error))
    _add_written(builder, text)  # the user answers a question, or comments on what was done


def _add_written(builder: TurnBuilder, text: str) -> None:
    for element in _elements(text):
        if element.name in _WRITTEN:
            builder.add_user_text(element.text.strip())
            return


def _add_answer(builder: TurnBuilder, message: dict[str, Json]) -> None:
    blocks = objects_in(message.get("content"))
    text = "\n".join(filter(None, _texts(message)))
    said, answers, position = "", list[str](), 0
    for element in _elements(text):
        if element.name == "thinking" or element.name in _TOOLS or element.name in _ANSWERS:
            said += text[position : element.start]
            position = element.end
        if element.name in _TOOLS:
            builder.add_call(ToolCall(name=element.name, args=_arguments(element.text)))
        elif element.name in _ANSWERS:
            answers.append(as_text(_arguments(element.text).get(_ANSWERS[element.name])) or "")
    if said := (said + text[position:]).strip():
        builder.add_answer("", said)
    for block in blocks:
        name = as_text(block.get("name")) or ""
        if block.get("type") == "tool_use" and name in _ANSWERS:
            answers.append(as_text(as_object(block.get("input")).get(_ANSWERS[name])) or "")
        elif block.get("type") == "tool_use":
            add_chat_message(builder, {"role": "assistant", "content": [block]})
    for answer in filter(None, answers):
        builder.add_answer("", answer)


class _Element(NamedTuple):
    """A tag and its text up to the tag that closes it."""

    name: str
    text: str
    start: int
    end: int


def _elements(text: str) -> Iterator[_Element]:
    """The outermost elements of a text, in time that grows with its length."""
    position = 0
    open_names: set[str] = set()
    while len(open_names) < _MAX_OPEN and (tag := _TAG.search(text, position)):
        name, position = tag[1], tag.end()
        end = -1 if name in open_names else text.find(f"</{name}>", position)
        if end < 0:
            open_names.add(name)
            continue
        inner = text[position:end]
        position = end + len(name) + 3
        yield _Element(name, inner, tag.start(), position)


def _arguments(text: str, depth: int = _MAX_DEPTH) -> dict[str, Json]:
    """The parameters, which may have parts of their own."""
    arguments: dict[str, Json] = {}
    for element in _elements(text):
        value = element.text.strip()
        parts = _arguments(value, depth - 1) if depth and value.startswith("<") else {}
        arguments[element.name] = parts or value
    return arguments
