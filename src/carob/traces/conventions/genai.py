"""OTel GenAI, new (messages in attributes or one details event) and old (an event per message)."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.mapping.convention import (
    LANGFUSE_INPUT,
    LANGFUSE_OUTPUT,
    LANGFUSE_STORED,
    Convention,
    MessageSource,
    SpanMarks,
    SpanRole,
    TokenKeys,
    first_text,
    messages_in,
    numbered_messages,
)
from carob.traces.mapping.tool_spans import ToolSpan, unwrap_output
from carob.traces.messages import events, numbered_attributes

ROLES: dict[object, SpanRole] = {  # by some early names, and by those of gemini-cli
    "chat": "model",
    "generate_content": "model",
    "text_completion": "model",
    "completion": "model",
    "responses": "model",
    "call_llm": "model",
    "llm_call": "model",
    "chat.completions": "model",
    "text.completions": "model",
    "invoke_agent": "agent",
    "process_thread_run": "agent",
    "agent_call": "agent",
    "invoke_workflow": "workflow",
    "user_prompt": "workflow",
    "invoke_graph": "workflow",
    "invoke_swarm": "workflow",
    "execute_tool": "tool",
    "tool_call": "tool",
    "evaluate": "skip",
}
_TELLS_OF_MODEL = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.prompt.0.role",
)
_UNNAMED = "<not specified>"
_STORED = "langfuse.observation.type"
EVENTS_IN = MessageSource("events", events.read_input, events.read_last_input)
EVENTS_OUT = MessageSource("events", events.read_output, events.read_last_output)


class GenAi(Convention):
    """The OpenTelemetry semantic conventions for generative AI."""

    name: ClassVar[str] = "genai"
    marks: ClassVar = SpanMarks(last_attributes=("gen_ai.request.model", "gen_ai.tool.name"))

    agent_names: ClassVar = ("gen_ai.agent.name", "gen_ai.workflow.name", "gen_ai.agent.id")
    models: ClassVar = ("gen_ai.request.model", "gen_ai.response.model")
    providers: ClassVar = ("gen_ai.provider.name", "gen_ai.system")
    finishes: ClassVar = ("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason")
    conversations: ClassVar = (
        "gen_ai.conversation.id",
        "session.id",
        "gen_ai.thread.id",
        "gen_ai.session.id",
        "langfuse.session.id",
    )
    tokens: ClassVar = TokenKeys(
        input=("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
        output=("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        cached=(
            "gen_ai.usage.cache_read.input_tokens",
            "gen_ai.usage.cache_read_input_tokens",
            "gen_ai.usage.details.cache_read_tokens",
            "gen_ai.usage.details.cached_tokens",
            "gen_ai.usage.cached_tokens",
        ),
        cache_write=(
            "gen_ai.usage.cache_write.input_tokens",
            "gen_ai.usage.cache_creation.input_tokens",
            "gen_ai.usage.cache_creation_input_tokens",
            "gen_ai.usage.cache_write_input_tokens",
        ),
        reasoning=(
            "gen_ai.usage.reasoning.output_tokens",
            "gen_ai.usage.reasoning_tokens",
            "llm.usage.reasoning_tokens",
            "gen_ai.usage.details.reasoning_tokens",
        ),
        total=("gen_ai.usage.total_tokens", "llm.usage.total_tokens"),
    )
    inputs: ClassVar = (
        messages_in("gen_ai.input.messages", "user"),
        numbered_messages("gen_ai.prompt", numbered_attributes.OPENLLMETRY),
        EVENTS_IN,
        messages_in("gen_ai.prompt", "user"),
        messages_in("request_data", "user"),
        LANGFUSE_INPUT,
    )
    outputs: ClassVar = (
        messages_in("gen_ai.output.messages", "assistant"),
        numbered_messages("gen_ai.completion", numbered_attributes.OPENLLMETRY),
        EVENTS_OUT,
        messages_in("gen_ai.completion", "assistant"),
        messages_in("response_data", "assistant"),
        LANGFUSE_OUTPUT,
    )
    tool_names: ClassVar = ("gen_ai.tool.name",)
    tool_ids: ClassVar = ("gen_ai.tool.call.id", "gen_ai.tool.call_id")
    tool_args: ClassVar = (
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.args",
        "tool_arguments",  # pydantic-ai's, also where its scope is lost
    )
    tool_results: ClassVar = (
        "gen_ai.tool.call.result",
        "gen_ai.tool.result",
        "tool_response",
        "code.function.return.value",  # of a function that google-genai called by itself
    )

    def role(self, span: Span) -> SpanRole | None:
        """By the operation; a tool that merges other tools' answers is none."""
        attributes = span.attributes
        operation = attributes.get("gen_ai.operation.name")
        if operation is None:
            return self.role_without_operation(span)
        role = ROLES.get(operation) if isinstance(operation, str) else None
        if role == "tool" and attributes.get("gen_ai.tool.name") == "(merged tools)":
            return None
        return role

    def common_role(self, span: Span) -> SpanRole | None:
        """The operation tells, except of tools, whose names count as well."""
        if type(self).role is not GenAi.role or "gen_ai.operation.name" not in span.attributes:
            return None
        role = self.role(span)
        return None if role == "tool" else role

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """The role of a span that names no operation, as early recorders wrote them."""
        attributes = span.attributes
        if "gen_ai.tool.name" in attributes:
            return None if attributes["gen_ai.tool.name"] == "(merged tools)" else "tool"
        if "gen_ai.request.model" not in attributes:
            return None
        told = span.name == "call_llm" or not attributes.keys().isdisjoint(_TELLS_OF_MODEL)
        return "model" if told else None

    def agent_name(self, span: Span) -> str | None:
        """By attribute, else by a span name such as `invoke_agent weather`."""
        found = first_text(span.attributes, self.agent_names)
        if found:
            return found
        named = _suffix(span.name, "invoke_agent ")
        return None if named == span.attributes.get("gen_ai.request.model") else named

    def tool_name(self, span: Span) -> str | None:
        """By attribute, else by a span name such as `execute_tool search`."""
        for key in self.tool_names:
            value = span.attributes.get(key)
            if value and isinstance(value, str):
                return value
        return _suffix(span.name, "execute_tool ")

    def tool(self, span: Span) -> ToolSpan:
        """By attributes, else by the events that carry them as if they were messages."""
        found = Convention.tool(self, span)
        if span.events and (found.raw_args is None or found.output is None):
            _fill_told(found, span)
        if _STORED in span.attributes:
            _fill_stored(found, span)
        if found.id == _UNNAMED:
            _forget(found)
        return with_status(found, span)


def _fill_told(found: ToolSpan, span: Span) -> None:
    args, result = events.read_tool_events(span)
    if found.raw_args is None:
        found.raw_args, found.args_key = args, "gen_ai.tool.message"
    if found.output is None and result is not None:
        found.output, found.output_key = unwrap_output(result), "gen_ai.choice"
        found.id = found.id or found.output.id


def _forget(found: ToolSpan) -> None:
    """ADK names neither the call of a tool that raised nor, of course, its result."""
    found.id = None
    if found.output and found.output.value in (_UNNAMED, {"result": _UNNAMED}):
        found.output = None


def _fill_stored(found: ToolSpan, span: Span) -> None:
    """What Langfuse made of events, which its exports do not hold."""
    held = span.attributes
    args, result = held.get(LANGFUSE_STORED[0]), held.get(LANGFUSE_STORED[1])
    if found.raw_args is None and args is not None:
        found.raw_args, found.args_key = args, LANGFUSE_STORED[0]
    if found.output is None and result is not None:
        found.output, found.output_key = unwrap_output(result), LANGFUSE_STORED[1]
        found.id = found.id or found.output.id


def with_status(found: ToolSpan, span: Span) -> ToolSpan:
    """A tool that failed by its own word, which Strands keeps beside the result."""
    if span.attributes.get("gen_ai.tool.status") == "error" and found.output:
        found.output.failed = True
    return found


def _suffix(name: str, prefix: str) -> str | None:
    return name[len(prefix) :] or None if name.startswith(prefix) else None
