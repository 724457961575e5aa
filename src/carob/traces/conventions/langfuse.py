"""Langfuse's SDK, and its exports where the original attributes are gone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    first_integer,
)
from carob.traces.mapping.graphs import is_graph_in_tool
from carob.traces.mapping.sources import messages_in
from carob.traces.mapping.tool_spans import ToolOutput, ToolSpan
from carob.traces.messages.message import last_user
from carob.traces.messages.usage import include_cached
from carob.traces.messages.withheld import withhold
from carob.traces.shape import decode_json, text_or_none

_CACHED = (
    "input_cached_tokens",
    "input_cache_read",
    "cache_read_input_tokens",
    "cached_tokens",
)
_CACHE_WRITE = ("input_cache_creation", "input_cache_write", "cache_creation_input_tokens")
_ANTHROPIC = ("cache_read_input_tokens", "cache_creation_input_tokens")
_REASONING = ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens")
_INPUT_DETAILS = ("input_tokens_details", "prompt_tokens_details")
_OUTPUT_DETAILS = ("output_tokens_details", "completion_tokens_details")
_ADK_RUN = "agent_run ["
"""How ADK names a span to which it gives no attributes."""
_META = "langfuse.observation.metadata."
_THREADS = (
    f"{_META}langfuse_session_id",
    f"{_META}thread_id",
    "langfuse.trace.metadata.thread_id",
)
_AGENT = f"{_META}lc_agent_name"
"""The agent that LangChain says a span works for."""
_KIND = "langfuse.observation.type"
_INPUT = "langfuse.observation.input"
_OUTPUT = "langfuse.observation.output"
_LEVEL = "langfuse.observation.level"
_STATUS_MESSAGE = "langfuse.observation.status_message"
_TRACE_INPUT = "langfuse.trace.input"
_EVENT_NAME = re.compile(
    r"tool\.(?:.+\.)?(?P<tool>[^.]+)\.(?P<phase>start|update|retry|success|error|finish)"
)
"""The names of BeeAI's events, each of which becomes an observation."""
_CALL_ENDS = ("success", "error")
_GENAI = GenAi()
_ROLES: dict[Json, SpanRole] = {
    "generation": "model",
    "agent": "agent",
    "tool": "tool",
    "span": "chain",
    "chain": "chain",
    "retriever": "retriever",
    "evaluator": "skip",
}


_HOOKS = (".before_agent", ".after_agent")
"""How the nodes of LangChain's middleware end."""


class Langfuse(Convention):
    """Langfuse observations."""

    name: ClassVar[str] = "langfuse"
    version: ClassVar[int] = 3
    marks: ClassVar = SpanMarks(late_attributes=(_KIND,), yields_to_scope=True)

    usage_keys: ClassVar = ("langfuse.observation.usage_details",)
    agent_names: ClassVar = ("gen_ai.agent.name",)
    models: ClassVar = ("langfuse.observation.model.name", *GenAi.models)
    conversations: ClassVar = ("langfuse.session.id", "session.id", "gen_ai.conversation.id")
    inputs: ClassVar = (
        messages_in("langfuse.observation.input", "user"),
        *GenAi.inputs[:-1],
        messages_in("langfuse.trace.input", "user"),
    )
    outputs: ClassVar = (
        messages_in("langfuse.observation.output", "assistant"),
        *GenAi.outputs[:-1],
        messages_in("langfuse.trace.output", "assistant"),
    )
    tokens: ClassVar = GenAi.tokens
    graph_paths: ClassVar = (f"{_META}langgraph_checkpoint_ns",)
    tool_names: ClassVar = GenAi.tool_names
    tool_ids: ClassVar = GenAi.tool_ids
    tool_args: ClassVar = ("langfuse.observation.input", *GenAi.tool_args)
    tool_results: ClassVar = ("langfuse.observation.output", *GenAi.tool_results)

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Turn the level of observations into a status: the SDK for JavaScript sets none."""
        if not any(map(_has_failed_silently, spans)):
            return None
        return [
            msgspec.structs.replace(
                span,
                status="error",
                status_message=text_or_none(span.attributes.get(_STATUS_MESSAGE)),
            )
            if _has_failed_silently(span)
            else span
            for span in spans
        ]

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the observation."""
        kind = span.attributes.get(_KIND)
        if span.name.startswith(_ADK_RUN):
            return "agent"
        if event := _EVENT_NAME.fullmatch(span.name):
            return "tool" if event["phase"] in _CALL_ENDS else "skip"
        role = _ROLES.get(kind.lower()) if isinstance(kind, str) else None
        if role == "agent" and _is_step_of_graph(span):
            return "chain"
        if role == "chain" and _is_tool_message(span.attributes.get(_OUTPUT)):
            return "tool"
        if role == "chain" and _is_agent(span):
            return "agent"
        return _GENAI.role_without_operation(span) or role if role == "chain" else role

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the name of the observation."""
        if span.name.startswith(_ADK_RUN):
            return span.name[len(_ADK_RUN) : -1] or None
        return super().agent_name(span) or span.name or None

    def tool_name(self, span: Span) -> str | None:
        """Return the attribute, else the name of the observation."""
        if event := _EVENT_NAME.fullmatch(span.name):
            return event["tool"]
        return super().tool_name(span) or span.name or None

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; its failure is the level of the observation."""
        tool = super().tool(span)
        if span.attributes.get(_LEVEL) == "ERROR":
            tool.output = tool.output or ToolOutput(withhold(span.status_message))
            tool.output.failed = True
        return tool

    def user_text(self, span: Span) -> tuple[str, str] | None:
        """Return the user's text of the trace, else of the observation, whose input may be a prompt
        that a program made from it."""
        for source in self.inputs:
            if source.key == _TRACE_INPUT and (text := last_user(source.read(span) or [])):
                return source.key, text
        return super().user_text(span)

    def conversation_id(self, span: Span) -> str | None:
        """Return the session, else LangGraph's thread in the metadata."""
        if session := super().conversation_id(span):
            return session
        threads = (decode_json(span.attributes.get(key)) for key in _THREADS)
        return next((thread for thread in threads if isinstance(thread, str) and thread), None)

    def usage(self, span: Span) -> Usage:
        """Return the usage details, under Langfuse's names or the provider's."""
        usage = decode_json(span.attributes.get("langfuse.observation.usage_details"))
        if not isinstance(usage, dict):
            return super().usage(span)
        inputs, outputs = _details(usage, _INPUT_DETAILS), _details(usage, _OUTPUT_DETAILS)
        counted = Usage(
            input_tokens=_full_count(usage, ("input", "input_tokens", "prompt_tokens")),
            output_tokens=_full_count(usage, ("output", "output_tokens", "completion_tokens")),
            cached_tokens=first_integer(usage | inputs, _CACHED),
            cache_write_tokens=first_integer(usage | inputs, _CACHE_WRITE),
            reasoning_tokens=first_integer(usage | outputs, _REASONING),
            total_tokens=first_integer(usage, ("total", "total_tokens")),
        )
        return include_cached(counted, beside=any(key in usage for key in _ANTHROPIC))


def _has_failed_silently(span: Span) -> bool:
    return span.status != "error" and span.attributes.get(_LEVEL) == "ERROR"


def _is_agent(span: Span) -> bool:
    """Whether it is an agent of LangChain, which has the type of any span."""
    attributes = span.attributes
    if decode_json(attributes.get(_AGENT)) == span.name:
        return True
    node = attributes.get(f"{_META}langgraph_node")
    return is_graph_in_tool(span.name, node, attributes.get(_INPUT), attributes.get(_OUTPUT))


def _is_step_of_graph(span: Span) -> bool:
    """Whether it is a function of LangGraph that only has the word `agent` in its name."""
    node = decode_json(span.attributes.get(f"{_META}langgraph_node"))
    if node is None and f"{_META}langgraph_step" in span.attributes:
        node = ""  # some node
    is_agent = decode_json(span.attributes.get(_AGENT)) == span.name
    is_step = node != span.name or span.name == "agent" or span.name.endswith(_HOOKS)
    return node is not None and is_step and not is_agent


def _is_tool_message(output: Json) -> bool:
    """Whether an output is a LangChain message of a tool: LangGraph.js records tools as spans."""
    message = decode_json(output)
    if not isinstance(message, dict):
        return False
    path = message.get("id")
    if message.get("type") == "constructor" and isinstance(path, list):
        return path[-1:] == ["ToolMessage"]
    return message.get("type") == "tool" and "tool_call_id" in message


def _full_count(usage: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    """Return a count that includes its details. Langfuse subtracts details such as
    `input_cache_read` from `input`; that it did shows in the total of all counts."""
    number = first_integer(usage, keys)
    counts = {key: count for key, count in usage.items() if type(count) is int}
    total = counts.pop("total", None)
    inner = sum(count for key, count in counts.items() if key.startswith(f"{keys[0]}_"))
    is_subtracted = inner and total is not None and sum(counts.values()) == total
    return number + inner if number is not None and is_subtracted else number


def _details(usage: dict[str, Json], keys: tuple[str, ...]) -> dict[str, Json]:
    for key in keys:
        if isinstance(details := usage.get(key), dict):
            return details
    return {}
