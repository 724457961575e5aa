"""Python objects that were printed into attributes by recorders that forgot to serialize them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from carob.schema import Json
from carob.traces.mapping.decoding import literal

_LIMIT = 100_000
_FIELD = re.compile(r"""\b(arguments|call_id|name)=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_MESSAGE = re.compile(rf"content=(?P<content>{_QUOTED}|\[.*?\])(?= \w+=|$)", re.DOTALL)
_NAMED = re.compile(rf" (name|tool_call_id|status)=({_QUOTED})")
_TOOL_CALLS = re.compile(
    r" tool_calls=(\[.*?\])(?= usage_metadata=| invalid_tool_calls=|$)", re.DOTALL
)
_BY_MODEL = re.compile(r" (?:usage_metadata=|tool_calls=|response_metadata=\{'|id='run-)")
_EXECUTION = re.compile(
    r"status='(?P<status>success|failure)' result=(?P<result>.*?) error=(?P<error>.*?)"
    r" updated_session_state=",
    re.DOTALL,
)
_CALLING = re.compile(r"arguments=(\{.*\})", re.DOTALL)
_ACTION = re.compile(r"Action Input:\s*(\{.*\})", re.DOTALL)
_ENUM = re.compile(r"<\w+\.\w+: ('\w+')>")
_OBJECT = re.compile(
    r"\[?<[\w.]+ (?:object|pending|finished)\b|[A-Za-z_][\w.]*\(\w+=|\w+=[A-Z]\w*\("
)


class FunctionCall(NamedTuple):
    """A printed tool call."""

    name: str
    args: str
    id: str | None


def function_call(text: str) -> FunctionCall | None:
    """`ResponseFunctionToolCall(arguments='…', call_id='…', name='…')`."""
    if not text.startswith("ResponseFunctionToolCall(") or len(text) > _LIMIT:
        return None
    fields = {key: _unquoted(value) for key, value in _FIELD.findall(text)}
    if "name" not in fields:
        return None
    return FunctionCall(fields["name"], fields.get("arguments", ""), fields.get("call_id"))


class Execution(NamedTuple):
    """How a printed execution ended."""

    value: str | None
    failed: bool


def execution(text: str) -> Execution | None:
    """Agno's `status='success' result='…' error=None …`."""
    match = _EXECUTION.match(text) if len(text) <= _LIMIT else None
    if match is None:
        return None
    failed = match["status"] == "failure"
    value = match["error"] if failed else match["result"]
    return Execution(None if value == "None" else _unquoted(value), failed)


def is_object(text: str) -> bool:
    """Whether a text is a printed object rather than something that was said."""
    return ("=" in text or text.startswith(("<", "[<"))) and _OBJECT.match(text) is not None


def crew_arguments(text: str) -> str | None:
    """The arguments in CrewAI's printed `calling` or in its `Action Input:` text."""
    for pattern in (_CALLING, _ACTION):
        if match := pattern.search(text[:_LIMIT]):
            return match[1]
    return None


class Printed(NamedTuple):
    """A printed LangChain message."""

    role: str
    content: Json
    calls: Json
    id: str | None
    name: str | None
    failed: bool


def langchain_message(text: str) -> Printed | None:
    """`content='…' additional_kwargs={…} … id='…'`, whose role only its other fields tell."""
    match = _MESSAGE.match(text) if text.startswith("content=") and len(text) <= _LIMIT else None
    if match is None:
        return None
    rest = text[match.end() :]
    fields = {key: _unquoted(value) for key, value in _NAMED.findall(rest)}
    calls = _TOOL_CALLS.search(rest)
    content = match["content"]
    return Printed(
        "tool" if "tool_call_id" in fields else "ai" if _BY_MODEL.search(rest) else "human",
        literal(content) if content[0] == "[" else _unquoted(content),
        literal(calls[1]) if calls else None,
        fields.get("tool_call_id"),
        fields.get("name"),
        fields.get("status") == "error",
    )


def haystack_message(text: str) -> dict[str, Json] | None:
    """Haystack's `ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='…')], …)`.

    What follows the content may hold objects that cannot be read again, and is left out.
    """
    if len(text) > _LIMIT:
        return None
    printed = _ENUM.sub(r"\1", text)
    end = printed.rfind(", _name=")
    try:
        tree = ast.parse(printed if end < 0 else f"{printed[:end]})", mode="eval")
        found = _constructed(tree.body)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _constructed(node: ast.expr) -> Json:
    """An object as its fields, with the name of its class as the type."""
    if isinstance(node, ast.List):
        return [_constructed(one) for one in node.elts]
    if not isinstance(node, ast.Call):
        value: Json = ast.literal_eval(node)
        return value
    fields: dict[str, Json] = {"type": ast.unparse(node.func)}
    for field in node.keywords:
        fields[(field.arg or "").lstrip("_")] = _constructed(field.value)
    return fields


def _unquoted(value: str) -> str:
    if "\\" not in value and value[:1] in ("'", '"') and value.find(value[0], 1) == len(value) - 1:
        return value[1:-1]
    try:
        found: object = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value[1:-1]
    return found if isinstance(found, str) else value[1:-1]
