"""LangSmith: its OTel exporter, and its own runs. Both hold whole inputs and outputs as JSON."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    first_text,
)
from carob.traces.mapping.sources import messages_in
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.messages.usage import usage_of
from carob.traces.shape import decode_json

_META = "langsmith.metadata."
_ROLES: dict[Json, SpanRole] = {
    "llm": "model",
    "tool": "tool",
    "chain": "chain",
    "retriever": "retriever",
}
_THREADS = ("thread_id", "session_id", "conversation_id")


class LangSmith(GenAi):
    """LangSmith's OTel exporter."""

    name: ClassVar[str] = "langsmith"
    marks: ClassVar = SpanMarks(attributes=("langsmith.span.kind",))

    usage_keys: ClassVar = (f"{_META}usage_metadata",)
    agent_names: ClassVar = (f"{_META}lc_agent_name", "langsmith.trace.name")
    conversations: ClassVar = (*(f"{_META}{key}" for key in _THREADS), *GenAi.conversations)
    inputs: ClassVar = (messages_in("gen_ai.prompt", "user"), *GenAi.inputs[:2])
    outputs: ClassVar = (messages_in("gen_ai.completion", "assistant"), *GenAi.outputs[:2])
    graph_paths: ClassVar = (f"{_META}langgraph_checkpoint_ns",)
    tool_names: ClassVar = ("gen_ai.tool.name", "langsmith.trace.name")
    tool_args: ClassVar = (*GenAi.tool_args, "gen_ai.prompt")
    tool_results: ClassVar = (*GenAi.tool_results, "gen_ai.completion")

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the kind; a root, and a graph with the agent's name, are agents."""
        kind = span.attributes.get("langsmith.span.kind")
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        agent_name = span.attributes.get(f"{_META}lc_agent_name")
        return _promote(span, role, agent_name)

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; an empty object is not a result."""
        return _drop_empty_output(super().tool(span), span)

    def usage(self, span: Span) -> Usage:
        """Return the counts of the attributes, completed from the metadata."""
        counted = super().usage(span)
        return _complete(counted, decode_json(span.attributes.get(f"{_META}usage_metadata")))


class LangSmithRun(Convention):
    """LangSmith's own runs."""

    name: ClassVar[str] = "langsmith"
    version: ClassVar[int] = LangSmith.version
    marks: ClassVar = SpanMarks(late_attributes=("langsmith.run_type",))

    usage_keys: ClassVar = ("langsmith.outputs",)
    inputs: ClassVar = (messages_in("langsmith.inputs", "user"),)
    outputs: ClassVar = (messages_in("langsmith.outputs", "assistant"),)
    tool_args: ClassVar = ("langsmith.inputs",)
    tool_results: ClassVar = ("langsmith.outputs",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the run."""
        kind = span.attributes.get("langsmith.run_type")
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        return _promote(span, role, _metadata(span).get("lc_agent_name"))

    def agent_name(self, span: Span) -> str | None:
        """Return the name in the metadata, else the run's name."""
        return first_text(_metadata(span), ("lc_agent_name",)) or span.name or None

    def model_name(self, span: Span) -> str | None:
        """Return the value in the metadata."""
        return first_text(_metadata(span), ("ls_model_name", "model_name", "model"))

    def provider_name(self, span: Span) -> str | None:
        """Return the value in the metadata."""
        return first_text(_metadata(span), ("ls_provider",))

    def usage(self, span: Span) -> Usage:
        """Return the counts in the outputs, whose place depends on the version."""
        outputs = decode_json(span.attributes.get("langsmith.outputs"))
        return usage_of(_find_usage(outputs, 0)) or Usage()

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; an empty object is not a result."""
        return _drop_empty_output(super().tool(span), span)

    def tool_name(self, span: Span) -> str | None:
        """Return the run's name."""
        return span.name or None

    def conversation_id(self, span: Span) -> str | None:
        """Return the value in the metadata."""
        return first_text(_metadata(span), _THREADS)


def _drop_empty_output(tool: ToolSpan, span: Span) -> ToolSpan:
    if tool.output is not None and not tool.output.value and span.status == "error":
        tool.output = None
    # With inputs and outputs hidden, both are empty objects; a result is in a field of one.
    if tool.output is not None and tool.output.value == {}:
        tool.output = None
    if tool.output is None and tool.args == {}:
        tool.raw_args = None
    return tool


def _promote(span: Span, role: SpanRole | None, agent_name: Json) -> SpanRole | None:
    if role == "chain" and agent_name == span.name:
        return "agent"
    return "workflow" if role == "chain" and span.parent_id is None else role


def _metadata(span: Span) -> dict[str, Json]:
    extra = decode_json(span.attributes.get("langsmith.extra"))
    metadata = extra.get("metadata") if isinstance(extra, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def _find_usage(value: Json, depth: int) -> Json:
    if depth > 8:
        return None
    if isinstance(value, list):
        return _find_usage(value[0], depth + 1) if value else None
    if not isinstance(value, dict):
        return None
    for key in ("usage_metadata", "token_usage", "usage"):
        if isinstance(value.get(key), dict):
            return value[key]
    for key in ("llm_output", "generations", "message", "kwargs", "output", "outputs", "messages"):
        if key in value and (usage := _find_usage(value[key], depth + 1)):
            return usage
    return None


def _complete(counted: Usage, metadata: Json) -> Usage:
    """Add the counts of LangChain's usage metadata where the attributes have none."""
    recorded = usage_of(metadata)
    if recorded is None:
        return counted
    pairs = zip(msgspec.structs.astuple(counted), msgspec.structs.astuple(recorded), strict=True)
    return Usage(*(count if count is not None else fallback for count, fallback in pairs))
