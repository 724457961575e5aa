"""Python objects that were printed into attributes by recorders that forgot to serialize them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_LIMIT = 100_000
_FIELD = re.compile(r"""\b(arguments|call_id|name)=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_CALLING = re.compile(r"arguments=(\{.*\})", re.DOTALL)
_ACTION = re.compile(r"Action Input:\s*(\{.*\})", re.DOTALL)


_OBJECT = re.compile(r"<[\w.]+ (?:object|pending|finished)\b|[A-Za-z_][\w.]*\(\w+=|\w+=[A-Z]\w*\(")


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


def is_object(text: str) -> bool:
    """Whether a text is a printed object rather than something that was said."""
    return _OBJECT.match(text) is not None


def crew_arguments(text: str) -> str | None:
    """The arguments in CrewAI's printed `calling` or in its `Action Input:` text."""
    for pattern in (_CALLING, _ACTION):
        if match := pattern.search(text[:_LIMIT]):
            return match[1]
    return None


def _unquoted(value: str) -> str:
    try:
        found: object = ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value[1:-1]
    return found if isinstance(found, str) else value[1:-1]
