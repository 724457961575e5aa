"""Mastra's own exporters, which write OTel GenAI or OpenInference by the backend.

A generation is a whole loop of model calls, each of which is a step: `agent_run` >
`model_generation` > `model_step` > `model_inference` and `tool_call`. By version, tokens are
counted by the generation or by the inference, and only a step's output has the calls of its model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.openinference import OpenInference
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    TokenKeys,
)
from carob.traces.mapping.sources import MessageSource, messages_in
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import Message
from carob.traces.messages.read import read_messages
from carob.traces.shape import decode_json, text_or_none

_TYPE = "mastra.span.type"
_KIND = "openinference.span.kind"
_STEPS = ("model_step", "llm_step")
_GENERATIONS = ("model_generation", "llm_generation")
_ROLES: dict[Json, SpanRole] = {
    "agent_run": "agent",
    "model_generation": "chain",
    "llm_generation": "chain",
    "model_step": "model",
    "llm_step": "model",
    "model_inference": "model",
    "tool_call": "tool",
    "mcp_tool_call": "tool",
    "client_tool_call": "tool",
    "workflow_run": "workflow",
    "workflow_step": "chain",
}
_SUMMARY = re.compile(r"(?:\[tool(?:-result)?: [^\]]*\]\s*)+")
_TOO_DEEP = "[MaxDepth]"
"""What stands for values that are nested too deeply."""
_NAMES: tuple[tuple[str, str], ...] = (
    ("agent.", "agent_run"),
    ("chat ", "model_generation"),
    ("step:", "model_step"),
    ("tool.execute ", "tool_call"),
    ("workflow.", "workflow_run"),
)
"""How OpenInference's exporter named spans before it wrote their type."""


def _type_of(span: Span) -> Json:
    kind = span.attributes.get(_TYPE)
    if kind is not None or _KIND not in span.attributes:
        return kind
    return next((kind for prefix, kind in _NAMES if span.name.startswith(prefix)), None)


def _read_output(span: Span, key: str) -> list[Message] | None:
    """Read what a step returned: a text, and its calls beside it."""
    output = decode_json(span.attributes.get(key))
    if not isinstance(output, dict) or "toolCalls" not in output:
        return None if output is None else read_messages(output, "assistant")
    text = output.get("text")
    message = read_message({"role": "assistant", "tool_calls": output["toolCalls"]}, "assistant")
    message.text = text if isinstance(text, str) and (text or not message.calls) else None
    return [message]


def _hide_summaries(messages: list[Message]) -> list[Message]:
    """Drop what stands for a call or a result in the input of a step, such as `[tool: search]`."""
    for message in messages:
        if message.role == "tool" and any(_is_summary(result.value) for result in message.results):
            message.results, message.hidden = [], True
        if message.role == "assistant" and (_is_summary(message.text) or _has_cut_call(message)):
            message.text, message.calls, message.hidden = None, [], True
    return messages


def _is_summary(value: Json) -> bool:
    return isinstance(value, str) and _SUMMARY.fullmatch(value) is not None


def _has_cut_call(message: Message) -> bool:
    return any(call.name == _TOO_DEEP for call in message.calls)


def _output(key: str) -> MessageSource:
    def read(span: Span) -> list[Message] | None:
        return _read_output(span, key)

    return MessageSource(key, read, None, (key,))


def _input(key: str) -> MessageSource:
    """The messages, or the provider's request around them."""

    def read(span: Span) -> list[Message] | None:
        request = decode_json(span.attributes.get(key))
        if request is None:
            return None
        body = request.get("body") if isinstance(request, dict) else None
        return _hide_summaries(read_messages(request if body is None else body, "user"))

    return MessageSource(key, read, None, (key,))


class Mastra(Convention):
    """Mastra's agents."""

    name: ClassVar[str] = "mastra"
    marks: ClassVar = SpanMarks(attributes=(_TYPE,), own_scopes=("@mastra/otel",))

    agent_names: ClassVar = ("gen_ai.agent.name", "agent.name", "gen_ai.agent.id", "agent.id")
    models: ClassVar = ("gen_ai.request.model", "llm.model_name", "modelId", *GenAi.models)
    providers: ClassVar = OpenInference.providers
    finishes: ClassVar = OpenInference.finishes
    conversations: ClassVar = ("mastra.metadata.threadId", *GenAi.conversations)
    tokens: ClassVar = TokenKeys(
        input=OpenInference.tokens.input,
        output=OpenInference.tokens.output,
        cached=(*OpenInference.tokens.cached, "gen_ai.usage.cached_input_tokens"),
        cache_write=OpenInference.tokens.cache_write,
        reasoning=OpenInference.tokens.reasoning,
        total=OpenInference.tokens.total,
    )
    inputs: ClassVar = (
        _input("mastra.agent_run.input"),
        _input("mastra.workflow_run.input"),
        _input("mastra.model_step.input"),
        messages_in("gen_ai.input.messages", "user"),
        _input("input.value"),
        _input("input"),
    )
    outputs: ClassVar = (
        _output("mastra.agent_run.output"),
        _output("mastra.workflow_run.output"),
        _output("mastra.model_step.output"),
        _output("mastra.model_inference.output"),
        messages_in("gen_ai.output.messages", "assistant"),
        _output("output.value"),
        _output("output"),
    )
    tool_names: ClassVar = ("gen_ai.tool.name", "tool.name")
    tool_ids: ClassVar = ("gen_ai.tool.call.id", "tool_call.id")
    tool_args: ClassVar = (
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.input",
        "input.value",
        "input",
    )
    tool_results: ClassVar = (
        "gen_ai.tool.call.result",
        "gen_ai.tool.output",
        "output.value",
        "output",
    )

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Take generations for model calls where the steps within them were not exported."""
        if any(_type_of(span) in _STEPS for span in spans):
            return None
        return [
            msgspec.structs.replace(span, attributes={**span.attributes, _TYPE: _STEPS[0]})
            if _type_of(span) in _GENERATIONS
            else span
            for span in spans
        ]

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the span; chunks of a stream and processors have no role."""
        return _ROLES.get(_type_of(span))

    def counts_own_calls(self, span: Span) -> bool:
        """Return whether it is a generation: an agent in one of its tools has its own."""
        return _type_of(span) in _GENERATIONS

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the name in a span name such as `agent.weather`."""
        if name := super().agent_name(span):
            return name
        for prefix in ("agent.", "invoke_agent "):
            if span.name.startswith(prefix):
                return span.name.removeprefix(prefix) or None
        return None

    def model_name(self, span: Span) -> str | None:
        """Return the attribute, else the model in the metadata of a step."""
        if name := super().model_name(span):
            return name
        for key in ("mastra.metadata.modelMetadata", "modelMetadata"):
            metadata = decode_json(span.attributes.get(key))
            if isinstance(metadata, dict):
                return text_or_none(metadata.get("modelId"))
        return None
