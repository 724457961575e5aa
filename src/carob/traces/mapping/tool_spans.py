"""The arguments and results that tool spans record, without the wrappers around them."""

from __future__ import annotations

import re

import msgspec

from carob.schema import Json, Span
from carob.traces.messages.printed import (
    is_printed_object,
    parse_crew_arguments,
    parse_execution,
)
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.shape import decode_json, parse_literal, text_or_none, to_text

_FAILURES = (
    "An error occurred while running the tool",
    "\nI encountered an error while trying to use the tool.",
)
"""How results begin that the OpenAI Agents SDK and CrewAI return in place of an exception."""
_TOOL_MESSAGE = re.compile(
    r"""content=(?P<q>['"])(?P<content>.*?)(?P=q)(?= name=| tool_call_id=| additional_kwargs=|$)"""
    r"""(?:.*?tool_call_id='(?P<id>[^']*)')?""",
    re.DOTALL,
)


_CONTROL_FLOW = re.compile(
    r"(?:\w+\.)*(?:GraphInterrupt|NodeInterrupt|ParentCommand)\b|\(?Interrupt\(|Command\(graph="
)
"""How the exceptions begin with which LangGraph passes control on."""


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
    """Return the arguments without wrappers; they may be JSON or a printed Python literal."""
    args = decode_json(value)
    if isinstance(args, str) and args is not value:
        args = decode_json(args)
    if isinstance(args, str):
        return {} if args == "" else parse_literal(args)
    if isinstance(args, list) and len(args) == 1 and isinstance(args[0], dict):
        args = args[0]
    return _unwrap_fields(args) if isinstance(args, dict) else args


_ARGUMENT_WRAPPERS = frozenset(
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


def _unwrap_fields(fields: dict[str, Json]) -> Json:
    if _ARGUMENT_WRAPPERS.isdisjoint(fields):
        return fields
    if "input_str" in fields:  # LangChain's callback, which adds run metadata beside it
        inputs = fields.get("inputs")
        return inputs if isinstance(inputs, dict) else unwrap_arguments(fields["input_str"])
    for key in ("calling", "tool_string"):  # CrewAI prints the call
        if isinstance(printed := fields.get(key), str) and (args := parse_crew_arguments(printed)):
            return unwrap_arguments(args)
    kwargs = fields.get("kwargs")
    if isinstance(kwargs, dict) and ("args" in fields or len(fields) == 1):
        # An object that the framework passes to the tool is not an argument of the model.
        kwargs = {key: value for key, value in kwargs.items() if not _is_printed(value)}
        return kwargs or _positional(fields.get("args"))
    is_wrapper = "name" in fields or len(fields) == 1 or fields.keys() == {"input", "options"}
    return _unwrap_inner(fields) if is_wrapper else fields


def _is_printed(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("<") and is_printed_object(value)


def _positional(args: Json) -> Json:
    if not isinstance(args, list) or not args:
        return {}
    return args[0] if len(args) == 1 and isinstance(args[0], dict) else {"args": args}


def _unwrap_inner(fields: dict[str, Json]) -> Json:
    for key in ("args", "arguments", "input", "inputs", "kwargs", "tool_input"):
        inner = decode_json(fields.get(key))
        if isinstance(inner, str):
            inner = parse_literal(inner)
        if isinstance(inner, dict):
            return inner
    return fields


def is_schema(value: Json) -> bool:
    """Whether an object declares parameters rather than passing arguments."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("properties"), dict) or "$schema" in value:
        return True
    return bool(value) and all(isinstance(x, dict) and "type" in x for x in value.values())


_CHOICE_KEYS = frozenset(("message", "id", "role", "finish_reason", "tool.result"))
_RESULT_WRAPPERS = (
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


_WRAPPED_PREFIXES = ("{", "[", '"', " ", "\n", "content=", "null", "status='", "meta=", *_FAILURES)
"""How a text begins that is more than the result itself."""


def unwrap_output(value: Json) -> ToolOutput:
    """Return the result without wrappers, such as a serialized tool message or a list of blocks."""
    if type(value) is str and not value.startswith(_WRAPPED_PREFIXES):
        return ToolOutput(value)
    decoded = decode_json(value)
    if isinstance(decoded, list) and len(decoded) == 1 and _is_choice(decoded[0]):
        decoded = decoded[0]
    if isinstance(decoded, dict):
        return (
            unwrap_output(decoded["message"]) if _is_choice(decoded) else _unwrap_message(decoded)
        )
    if isinstance(decoded, str):
        return _unwrap_text(decoded)
    return ToolOutput(plain_value(decoded))


def _is_choice(value: Json) -> bool:
    """Whether an object is the event of a tool's result, as Langfuse stores it."""
    return isinstance(value, dict) and "message" in value and value.keys() <= _CHOICE_KEYS


def _unwrap_message(fields: dict[str, Json]) -> ToolOutput:
    if fields.keys().isdisjoint(_RESULT_WRAPPERS):
        return ToolOutput(fields)
    inner = fields
    for key in ("output", "data", "kwargs", "update"):
        step = inner.get(key)
        if isinstance(step, dict) and ("content" in step or "kwargs" in step or "messages" in step):
            inner = step
    if isinstance(messages := inner.get("messages"), list) and messages:
        # LangGraph's commands contain the whole conversation; the last message is the tool's.
        last = messages[-1]
        if isinstance(last, dict) and (len(messages) == 1 or "update" in fields):
            return _unwrap_message(last)
        return ToolOutput(fields)
    if "content" in inner and (
        "tool_call_id" in inner or "isError" in inner or inner.get("status") in ("success", "error")
    ):
        failed = inner.get("status") == "error" or inner.get("isError") is True
        return ToolOutput(
            plain_value(inner["content"]), text_or_none(inner.get("tool_call_id")), failed
        )
    return _unwrap_framework(fields)


def _unwrap_framework(fields: dict[str, Json]) -> ToolOutput:
    if "response" in fields and "name" in fields and "id" in fields:  # Gemini's function response
        return ToolOutput(fields["response"], text_or_none(fields["id"]))
    if "tool_output" in fields and "tool_id" in fields:  # llama-index, around the next
        inner = unwrap_output(fields["tool_output"])
        inner.id = text_or_none(fields["tool_id"])
        return inner
    if "raw_output" in fields and "tool_name" in fields:
        value = plain_value(fields.get("blocks") or fields.get("content")) or fields["raw_output"]
        return ToolOutput(value, None, fields.get("is_error") is True)
    if "output" in fields and len(fields) <= 2 and ("kwargs" in fields or len(fields) == 1):
        return unwrap_output(fields["output"])
    if fields.get("type") == "text" and isinstance(text := fields.get("text"), str):
        return ToolOutput(decode_json(text))
    if fields.get("type") in ("text", "json") and "value" in fields:
        return ToolOutput(fields["value"])
    return ToolOutput(fields, None, fields.get("isError") is True or fields.get("is_error") is True)


def _unwrap_text(text: str) -> ToolOutput:
    if text.startswith("content="):
        match = _TOOL_MESSAGE.match(text[:100_000])
        if match:
            return ToolOutput(match["content"], match["id"], " status='error'" in text)
    if text == "null":  # a tool that returned nothing, as JSON
        return ToolOutput(None)
    if (execution := parse_execution(text)) is not None:
        return ToolOutput(execution.value, None, execution.failed)
    failed = text.startswith(_FAILURES)
    return ToolOutput(text, None, failed or (text.startswith("meta=") and "isError=True" in text))


def failure_reason(span: Span) -> str | None:
    """Return why the span failed, empty if no reason is recorded; `None` if it did not fail.

    LangGraph raises exceptions to pass control on or to wait for a person; these are no failures.
    """
    if span.status != "error" and "error.type" not in span.attributes and not span.events:
        return None
    reason = None
    for event in span.events:
        if event.name == "exception" or event.name == "gen_ai.client.operation.exception":
            reason = event.attributes.get("exception.message") or reason
            reason = reason or event.attributes.get("exception.type") or ""
    if reason is None and span.status != "error" and "error.type" not in span.attributes:
        return None
    text = to_text(reason or span.status_message or span.attributes.get("error.type") or "")
    return None if _CONTROL_FLOW.match(text) else text
