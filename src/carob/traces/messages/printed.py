"""Python objects whose `repr` was recorded in place of JSON."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from carob.schema import Json
from carob.traces.shape import parse_literal

_UPPER = frozenset("[ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LIMIT = 100_000
"""Longer texts are not parsed: the patterns would take too long."""
# The patterns are compiled on first use: few recorders print objects.
_FIELD = r"""\b(arguments|call_id|name)=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_MESSAGE = rf"(?s:content=(?P<content>{_QUOTED}|\[.*?\])(?= \w+=|$))"
_FIELDS = rf" (name|tool_call_id|status)=({_QUOTED})"
_TOOL_CALLS = r"(?s: tool_calls=(\[.*?\])(?= usage_metadata=| invalid_tool_calls=|$))"
_BY_MODEL = r" (?:usage_metadata=|tool_calls=|response_metadata=\{'|id='run-)"
_EXECUTION = (
    r"(?s:status='(?P<status>success|failure)' result=(?P<result>.*?) error=(?P<error>.*?)"
    r" updated_session_state=)"
)
_CALLING = r"(?s:arguments=(\{.*\}))"
_ACTION = r"(?s:Action Input:\s*(\{.*\}))"
_ENUM = r"<\w+\.\w+: ('\w+')>"
_USAGE = r"'usage': (\{(?:[^{}]|\{[^{}]*\})*\})"
_OBJECT = re.compile(
    r"\[?<[\w.]+ (?:object|pending|finished)\b|\[?[A-Za-z_][\w.]*\(\w+=|\w+=[A-Z]\w*\("
    r"|\w+='[^']*' \w+="
)
_MESSAGE_OBJECT = re.compile(
    r"\[?[A-Z]\w*(?:Message|Content|Output|Response|Result|Choice|Generation)\((?:\w+=|\)|$)"
)


class PrintedCall(NamedTuple):
    """A printed tool call."""

    name: str
    args: str
    id: str | None


def parse_function_call(text: str) -> PrintedCall | None:
    """Parse `ResponseFunctionToolCall(arguments='…', call_id='…', name='…')`."""
    if not text.startswith("ResponseFunctionToolCall(") or len(text) > _LIMIT:
        return None
    fields = {key: _unquote(value) for key, value in re.findall(_FIELD, text)}
    if "name" not in fields:
        return None
    return PrintedCall(fields["name"], fields.get("arguments", ""), fields.get("call_id"))


class PrintedExecution(NamedTuple):
    """A printed tool execution."""

    value: str | None
    failed: bool


def parse_execution(text: str) -> PrintedExecution | None:
    """Parse Agno's `status='success' result='…' error=None …`."""
    is_short = text.startswith("status='") and len(text) <= _LIMIT
    match = re.match(_EXECUTION, text) if is_short else None
    if match is None:
        return None
    failed = match["status"] == "failure"
    value = match["error"] if failed else match["result"]
    return PrintedExecution(None if value == "None" else _unquote(value), failed)


def is_printed_object(text: str) -> bool:
    """Whether a text is a printed object rather than a message."""
    return ("=" in text or text.startswith(("<", "[<"))) and _OBJECT.match(text) is not None


def is_printed_message(text: str) -> bool:
    """Whether a text is a printed message of a framework rather than what a model wrote, which may
    be code."""
    # Most answers begin with a capital letter, and few of them have a bracket.
    return text[:1] in _UPPER and "(" in text and _MESSAGE_OBJECT.match(text) is not None


def parse_crew_arguments(text: str) -> str | None:
    """Return the arguments in CrewAI's printed `calling` or in its `Action Input:` text."""
    for pattern in (_CALLING, _ACTION):
        if match := re.search(pattern, text[:_LIMIT]):
            return match[1]
    return None


def parse_dicts(text: str) -> list[dict[str, Json]]:
    """Parse messages that Python printed as dicts with a role, one or a list; none if the text is
    anything else, such as code."""
    if not text.startswith(("{'", "[{'")) or "'role':" not in text:
        return []
    parsed = parse_literal(text)
    items = parsed if isinstance(parsed, list) else [parsed]
    dicts = [item for item in items if isinstance(item, dict) and "role" in item]
    return dicts if len(dicts) == len(items) else []


class PrintedMessage(NamedTuple):
    """A printed LangChain message."""

    role: str
    content: Json
    calls: Json
    id: str | None
    name: str | None
    failed: bool


def parse_langchain_message(text: str) -> PrintedMessage | None:
    """Parse `content='…' additional_kwargs={…} … id='…'`; the role follows from its fields."""
    match = (
        re.match(_MESSAGE, text) if text.startswith("content=") and len(text) <= _LIMIT else None
    )
    if match is None:
        return None
    rest = text[match.end() :]
    fields = {key: _unquote(value) for key, value in re.findall(_FIELDS, rest)}
    calls = re.search(_TOOL_CALLS, rest)
    content = match["content"]
    return PrintedMessage(
        "tool" if "tool_call_id" in fields else "ai" if re.search(_BY_MODEL, rest) else "human",
        parse_literal(content) if content[0] == "[" else _unquote(content),
        parse_literal(calls[1]) if calls else None,
        fields.get("tool_call_id"),
        fields.get("name"),
        fields.get("status") == "error",
    )


def parse_haystack_message(text: str) -> dict[str, Json] | None:
    """Parse `ChatMessage(_role=<ChatRole.USER: 'user'>, _content=[TextContent(text='…')], …)`.

    Everything after the content is ignored: it may hold objects that cannot be parsed.
    """
    end = text.rfind(", _name=")
    fields = parse_objects(text if end < 0 else f"{text[:end]})")
    return fields if isinstance(fields, dict) else None


def parse_haystack_usage(text: str) -> Json:
    """Return the token counts in the `_meta` of a printed message."""
    match = re.search(_USAGE, text[:_LIMIT])
    return parse_literal(match[1]) if match else None


def parse_objects(text: str) -> Json:
    """Parse printed objects, and lists of them: each becomes a dict of its fields, with the name
    of its class as `type`. Returns `None` if a field holds what cannot be parsed."""
    if len(text) > _LIMIT:
        return None
    try:
        return _parse_node(ast.parse(re.sub(_ENUM, r"\1", text), mode="eval").body)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _parse_node(node: ast.expr) -> Json:
    """Return an object as a dict of its fields, with the class name as `type`."""
    if isinstance(node, ast.List):
        return [_parse_node(item) for item in node.elts]
    if not isinstance(node, ast.Call):
        value: Json = ast.literal_eval(node)
        return value
    fields: dict[str, Json] = {"type": ast.unparse(node.func)}
    for field in node.keywords:
        fields[(field.arg or "").lstrip("_")] = _parse_node(field.value)
    return fields


def _unquote(value: str) -> str:
    if "\\" not in value and value[:1] in ("'", '"') and value.find(value[0], 1) == len(value) - 1:
        return value[1:-1]
    try:
        text: object = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value[1:-1]
    return text if isinstance(text, str) else value[1:-1]
