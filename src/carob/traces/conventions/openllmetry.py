"""OpenLLMetry (Traceloop): old numbered prompts and completions, new OTel GenAI messages."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions import crewai
from carob.traces.conventions.genai import ROLES, GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import MessageSource, messages_in, text_in
from carob.traces.messages.message import Message
from carob.traces.messages.read import read_messages
from carob.traces.shape import decode_json, text_or_none

KINDS: dict[Json, SpanRole] = {
    "workflow": "workflow",
    "agent": "agent",
    "tool": "tool",
    "task": "chain",
    "llm": "model",
}
_REQUESTS: dict[Json, SpanRole] = {"chat": "model", "completion": "model"}
_RETRIEVALS = ("vector_db_retrieve", "retrieve", "retrieval")
_OUTPUT = "traceloop.entity.output"
_PROPERTIES = "traceloop.association.properties."


def _read_step(span: Span) -> list[Message] | None:
    """Read the messages that a step of llama-index's workflow passes to its agent."""
    output = decode_json(span.attributes.get(_OUTPUT))
    if not isinstance(output, dict) or "current_agent_name" not in output:
        return None
    messages = output.get("input")
    return read_messages(messages, "user") if isinstance(messages, list) else None


class OpenLlmetry(GenAi):
    """Traceloop's OpenLLMetry."""

    name: ClassVar[str] = "openllmetry"
    marks: ClassVar = SpanMarks(
        attributes=("traceloop.span.kind",),
        systems=("crewai",),
        late_attributes=("llm.request.type",),
    )

    usage_keys: ClassVar = ("crewai.crew.usage_metrics",)
    agent_names: ClassVar = ("gen_ai.agent.name", "crewai.agent.role", "traceloop.entity.name")
    conversations: ClassVar = (
        *GenAi.conversations,
        f"{_PROPERTIES}session_id",
        f"{_PROPERTIES}thread_id",
        f"{_PROPERTIES}conversation_id",
        f"{_PROPERTIES}chat_id",
    )
    inputs: ClassVar = (
        *crewai.TASKS,
        *GenAi.inputs,
        messages_in("traceloop.entity.input", "user"),
        text_in("crewai.task.description", "user"),
        MessageSource(_OUTPUT, _read_step, None, (_OUTPUT,)),
    )
    outputs: ClassVar = (
        crewai.RESULT,
        *GenAi.outputs,
        messages_in(_OUTPUT, "assistant"),
    )
    transcripts: ClassVar = (crewai.TASKS_OUTPUT,)
    tool_names: ClassVar = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
    tool_args: ClassVar = (*GenAi.tool_args, "tool.arguments", "traceloop.entity.input")
    tool_results: ClassVar = (*GenAi.tool_results, _OUTPUT)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation, else by the kind, else by the type of request."""
        attributes = span.attributes
        operation = attributes.get("gen_ai.operation.name")
        if operation in _RETRIEVALS:
            return "retriever"
        if isinstance(operation, str) and (operation in ROLES or operation == "create_agent"):
            return super().role(span)
        kind = attributes.get("traceloop.span.kind")
        if kind == "task" and "tool.name" in attributes:  # llama-index runs tools as tasks
            return "tool"
        entity = attributes.get("traceloop.entity.name")
        if kind == "task" and entity and attributes.get(f"{_PROPERTIES}lc_agent_name") == entity:
            return "agent"  # LangChain's, if it runs within another
        if isinstance(kind, str):
            return KINDS.get(kind)
        request = attributes.get("llm.request.type")
        return _REQUESTS.get(request) if isinstance(request, str) else None

    def counts_all_runs(self, span: Span) -> bool:
        """Return whether it is a crew, whose agents count from their creation on."""
        return "crewai.crew.usage_metrics" in span.attributes

    def agent_name(self, span: Span) -> str | None:
        """Return the name, unless it is a class of a LlamaIndex workflow."""
        name = super().agent_name(span)
        return None if name is not None and name.endswith(".workflow") else name

    def step_agent(self, span: Span) -> str | None:
        """Return the agent that a step of LlamaIndex's workflow runs."""
        if "current_agent_name" not in (text_or_none(span.attributes.get(_OUTPUT)) or ""):
            return None
        output = decode_json(span.attributes.get(_OUTPUT))
        return text_or_none(output.get("current_agent_name")) if isinstance(output, dict) else None

    def usage(self, span: Span) -> Usage:
        """Return the counts of a crew, else those of the span."""
        attributes = span.attributes
        if (printed := attributes.get("crewai.crew.usage_metrics")) is None:
            return super().usage(span)
        return crewai.parse_usage(printed, attributes.get("crewai.crew.tasks_output")) or Usage()

    def tool_name(self, span: Span) -> str | None:
        """Return the attribute, else the name in a span name such as `search.tool`."""
        return super().tool_name(span) or span.name.removesuffix(".tool") or None
