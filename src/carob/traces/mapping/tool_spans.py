"""What a tool's span says of its arguments and its result, out of the wrappers around them."""

from __future__ import annotations

import re

import msgspec

from carob.schema import Json, Span
from carob.traces.messages.printed import parse_crew_arguments, parse_execution
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.shape import decode_json, parse_literal, to_text

_FAILURES = (
    "An error occurred while running the tool",
    "\nI encountered an error while trying to use the tool.",
)
"""What the OpenAI Agents SDK and CrewAI answer in place of an exception."""
_TOOL_MESSAGE = re.compile(
    r"""content=(?P<q>['"])(?P<content>.*?)(?P=q)(?= name=| tool_call_id=| additional_kwargs=|$)"""
    r"""(?:.*?tool_call_id='(?P<id>[^']*)')?""",
    re.DOTALL,
)


class ToolOutput(msgspec.Struct, gc=False):
    """The result of a tool, with the id and status that its wrapper holds."""

    value: Json
    id: str | None = None
    failed: bool = False


class ToolSpan(msgspec.Struct, eq=False, gc=False):
    """The tool call that a span records."""

    name: str | None
    id: str | None = None
    raw_args: Json = None
    """The arguments, possibly wrapped; `None` if they are not recorded."""
    output: ToolOutput | None = None
    """The result; `None` if it is not recorded."""
    args_key: str | None = None
    output_key: str | None = None
    is_request: bool = False
    """Whether the span records that a model requested the call, not that the tool ran."""

    @property
    def args(self) -> Json:
        """The arguments, unwrapped on demand: mostly the model's message has them."""
        return None if self.raw_args is None else unwrap_arguments(self.raw_args)


def unwrap_arguments(value: Json) -> Json:
    """The arguments themselves: a recorder may wrap them, or print them as a Python literal."""
    found = decode_json(value)
    if isinstance(found, str):
        return {} if found == "" else parse_literal(found)
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], dict):
        found = found[0]
    return _unwrapped(found) if isinstance(found, dict) else found


_WRAPPERS = frozenset(
    [
        "input_str",
        "calling",
        "tool_string",
        "kwargs",
        "args",
        "arguments",
        "input",
        "inputs",
        "tool_input",
    ]
)


def _unwrapped(found: dict[str, Json]) -> Json:
    if _WRAPPERS.isdisjoint(found):
        return found
    if "input_str" in found:  # LangChain's callback, which adds run metadata beside it
        inputs = found.get("inputs")
        return inputs if isinstance(inputs, dict) else unwrap_arguments(found["input_str"])
    for key in ("calling", "tool_string"):  # CrewAI prints the call
        if isinstance(printed := found.get(key), str) and (args := parse_crew_arguments(printed)):
            return unwrap_arguments(args)
    kwargs = found.get("kwargs")
    if isinstance(kwargs, dict) and ("args" in found or len(found) == 1):
        return kwargs or _positional(found.get("args"))
    return _inner(found) if "name" in found or len(found) == 1 else found


def _positional(args: Json) -> Json:
    if not isinstance(args, list) or not args:
        return {}
    return args[0] if len(args) == 1 and isinstance(args[0], dict) else {"args": args}


def _inner(found: dict[str, Json]) -> Json:
    for key in ("args", "arguments", "input", "inputs", "kwargs", "tool_input"):
        inner = decode_json(found.get(key))
        if isinstance(inner, str):
            inner = parse_literal(inner)
        if isinstance(inner, dict):
            return inner
    return found


def is_schema(value: Json) -> bool:
    """Whether an object declares parameters rather than passing them."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("properties"), dict) or "$schema" in value:
        return True
    return bool(value) and all(isinstance(x, dict) and "type" in x for x in value.values())


_CHOICE = frozenset(("message", "id", "role", "finish_reason", "tool.result"))
_AROUND_ANSWERS = (
    "output",
    "data",
    "kwargs",
    "update",
    "messages",
    "content",
    "text",
    "value",
    "isError",
    "is_error",
    "response",
    "tool_output",
    "raw_output",
)


_WRAPPED = ("{", "[", '"', " ", "\n", "content=", "null", "status='", "meta=", *_FAILURES)
"""How a text begins that is more than what the tool said."""


def unwrap_output(value: Json) -> ToolOutput:
    """The result itself, out of a serialized tool message or a list of blocks."""
    if type(value) is str and not value.startswith(_WRAPPED):
        return ToolOutput(value)
    found = decode_json(value)
    if isinstance(found, list) and len(found) == 1 and _is_choice(found[0]):
        found = found[0]
    if isinstance(found, dict):
        return unwrap_output(found["message"]) if _is_choice(found) else _unwrapped_answer(found)
    if isinstance(found, str):
        return _text_answer(found)
    return ToolOutput(plain_value(found))


def _is_choice(value: Json) -> bool:
    """The event of a tool's result as Langfuse keeps it."""
    return isinstance(value, dict) and "message" in value and value.keys() <= _CHOICE


def _unwrapped_answer(found: dict[str, Json]) -> ToolOutput:
    if found.keys().isdisjoint(_AROUND_ANSWERS):
        return ToolOutput(found)
    inner = found
    for key in ("output", "data", "kwargs", "update"):
        step = inner.get(key)
        if isinstance(step, dict) and ("content" in step or "kwargs" in step or "messages" in step):
            inner = step
    if isinstance(listed := inner.get("messages"), list) and len(listed) == 1:
        only = listed[0]
        return _unwrapped_answer(only) if isinstance(only, dict) else ToolOutput(found)
    if "content" in inner and (
        "tool_call_id" in inner or "isError" in inner or inner.get("status") in ("success", "error")
    ):
        failed = inner.get("status") == "error" or inner.get("isError") is True
        return ToolOutput(plain_value(inner["content"]), _id(inner.get("tool_call_id")), failed)
    return _framework_answer(found)


def _framework_answer(found: dict[str, Json]) -> ToolOutput:
    if "response" in found and "name" in found and "id" in found:  # Gemini's function response
        return ToolOutput(found["response"], _id(found["id"]))
    if "tool_output" in found and "tool_id" in found:  # llama-index, around the next
        inner = unwrap_output(found["tool_output"])
        inner.id = _id(found["tool_id"])
        return inner
    if "raw_output" in found and "tool_name" in found:
        told = plain_value(found.get("blocks") or found.get("content")) or found["raw_output"]
        return ToolOutput(told, None, found.get("is_error") is True)
    if "output" in found and len(found) <= 2 and ("kwargs" in found or len(found) == 1):
        return unwrap_output(found["output"])
    if found.get("type") == "text" and isinstance(text := found.get("text"), str):
        return ToolOutput(decode_json(text))
    if found.get("type") in ("text", "json") and "value" in found:
        return ToolOutput(found["value"])
    return ToolOutput(found, None, found.get("isError") is True or found.get("is_error") is True)


def _text_answer(found: str) -> ToolOutput:
    if found.startswith("content="):
        match = _TOOL_MESSAGE.match(found[:100_000])
        if match:
            return ToolOutput(match["content"], match["id"], " status='error'" in found)
    if found == "null":  # a tool that returned nothing, as JSON
        return ToolOutput(None)
    if (ended := parse_execution(found)) is not None:
        return ToolOutput(ended.value, None, ended.failed)
    failed = found.startswith(_FAILURES)
    return ToolOutput(
        found, None, failed or (found.startswith("meta=") and "isError=True" in found)
    )


def failure_reason(span: Span) -> str | None:
    """Why the span failed, or `None` if it did not; an empty text if no reason is recorded."""
    if span.status != "error" and "error.type" not in span.attributes and not span.events:
        return None
    reason = None
    for event in span.events:
        if event.name == "exception" or event.name == "gen_ai.client.operation.exception":
            reason = event.attributes.get("exception.message") or reason
            reason = reason or event.attributes.get("exception.type") or ""
    if reason is None and span.status != "error" and "error.type" not in span.attributes:
        return None
    found = reason or span.status_message or span.attributes.get("error.type") or ""
    return to_text(found)


def _id(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
