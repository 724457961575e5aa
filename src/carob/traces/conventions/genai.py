"""OTel GenAI, new (messages in attributes or one details event) and old (an event per message)."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    TokenKeys,
    first_text,
)
from carob.traces.mapping.sources import (
    LANGFUSE_INPUT,
    LANGFUSE_OUTPUT,
    LANGFUSE_STORED,
    MessageSource,
    messages_in,
    messages_under,
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
    "agent": "agent",
    "run_agent": "agent",
    "invoke_workflow": "workflow",
    "user_prompt": "workflow",
    "invoke_graph": "workflow",
    "invoke_swarm": "workflow",
    "execute_tool": "tool",
    "tool_call": "tool",
    "evaluate": "skip",
}
_MODEL_KEYS = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "gen_ai.prompt.0.role",
    "gen_ai.input.messages",
    "gen_ai.output.messages",
)
_MESSAGES = ("gen_ai.input.messages", "gen_ai.output.messages")
CHAINS = ("RunnableSequence", "RunnableParallel", "RunnableLambda", "LangGraph")
"""LangChain's classes, which some recorders take for the names of agents."""
_STATUSES = ("gen_ai.tool.status", "tool.status")
_PLACEHOLDER = "<not specified>"
_STORED = "langfuse.observation.type"
EVENTS_IN = MessageSource("events", events.read_input, events.read_last_input)
EVENTS_OUT = MessageSource("events", events.read_output, events.read_last_output)


class GenAi(Convention):
    """The OpenTelemetry semantic conventions for generative AI."""

    name: ClassVar[str] = "genai"
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(
        last_attributes=("gen_ai.request.model", "gen_ai.tool.name", *_MESSAGES)
    )

    agent_names: ClassVar = ("gen_ai.agent.name", "gen_ai.workflow.name")
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
        messages_under("gen_ai.prompt", numbered_attributes.OPENLLMETRY),
        EVENTS_IN,
        messages_in("gen_ai.prompt", "user"),
        messages_in("request_data", "user"),
        LANGFUSE_INPUT,
    )
    outputs: ClassVar = (
        messages_in("gen_ai.output.messages", "assistant"),
        messages_under("gen_ai.completion", numbered_attributes.OPENLLMETRY),
        EVENTS_OUT,
        messages_in("gen_ai.completion", "assistant"),
        messages_in("response_data", "assistant"),
        LANGFUSE_OUTPUT,
    )
    graph_paths: ClassVar = ("traceloop.association.properties.langgraph_checkpoint_ns",)
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
        """Decide by the operation; the tool that merges the results of other tools has no role."""
        attributes = span.attributes
        operation = attributes.get("gen_ai.operation.name")
        if operation is None:
            return self.role_without_operation(span)
        role = ROLES.get(operation) if isinstance(operation, str) else None
        if role is None and "gen_ai.tool.name" in attributes:
            role = "tool"  # by an operation of its own, such as Mastra's
        return None if role == "tool" and (_is_merged(span) or _is_served(span)) else role

    def common_role(self, span: Span) -> SpanRole | None:
        """Return the role of the operation, except for tools, whose names count as well."""
        if type(self).role is not GenAi.role or "gen_ai.operation.name" not in span.attributes:
            return None
        role = self.role(span)
        return None if role == "tool" else role

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """Return the role of a span without an operation, as early recorders wrote them."""
        attributes = span.attributes
        if span.name.startswith("invoke_agent "):
            return "agent"
        if "gen_ai.request.model" in attributes and (
            span.name == "call_llm" or not attributes.keys().isdisjoint(_MODEL_KEYS)
        ):
            return "model"  # which may name the tool that it calls
        is_tool = "gen_ai.tool.name" in attributes and not _is_merged(span)
        if is_tool:
            return "tool"
        return "model" if not attributes.keys().isdisjoint(_MESSAGES) else None

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the name in a span name such as `invoke_agent weather`."""
        name = first_text(span.attributes, self.agent_names)
        if name is None:
            name = _suffix(span.name, "invoke_agent ")
            if name == span.attributes.get("gen_ai.request.model"):
                return None
        return None if name is None or name.startswith(CHAINS) else name

    def tool_name(self, span: Span) -> str | None:
        """Return the attribute, else the name in a span name such as `execute_tool search`."""
        for key in self.tool_names:
            value = span.attributes.get(key)
            if value and isinstance(value, str):
                return value
        return _suffix(span.name, "execute_tool ")

    def tool(self, span: Span) -> ToolSpan:
        """Return the call from attributes, else from events that carry it like messages."""
        tool = Convention.tool(self, span)
        if span.events and (tool.raw_args is None or tool.output is None):
            _fill_from_events(tool, span)
        if _STORED in span.attributes:
            _fill_from_langfuse(tool, span)
        if tool.id == _PLACEHOLDER:
            _drop_placeholders(tool)
        return with_status(tool, span)


def _is_served(span: Span) -> bool:
    """Whether it is what an MCP server records of a call in a trace of its own: the agent that
    called the tool records it as well, in the trace of its run."""
    is_root = span.kind == "server" and span.parent_id is None
    return is_root and "mcp.method.name" in span.attributes


def _is_merged(span: Span) -> bool:
    """Whether it is ADK's tool that merges the results of other tools."""
    return (
        span.attributes.get("gen_ai.tool.name") == "(merged tools)"
        or span.name == "execute_tool (merged)"
    )


def _fill_from_events(tool: ToolSpan, span: Span) -> None:
    args, result = events.read_tool_events(span)
    if tool.raw_args is None:
        tool.raw_args, tool.args_key = args, "gen_ai.tool.message"
    if tool.output is None and result is not None:
        tool.output, tool.output_key = unwrap_output(result), "gen_ai.choice"
        tool.id = tool.id or tool.output.id


def _drop_placeholders(tool: ToolSpan) -> None:
    """Drop the values that ADK writes for the id and the result of a tool that raised."""
    tool.id = None
    if tool.output and tool.output.value in (_PLACEHOLDER, {"result": _PLACEHOLDER}):
        tool.output = None


def _fill_from_langfuse(tool: ToolSpan, span: Span) -> None:
    """Fill in what Langfuse took from events, which its exports do not contain."""
    args, result = (span.attributes.get(key) for key in LANGFUSE_STORED)
    if tool.raw_args is None and args is not None:
        tool.raw_args, tool.args_key = args, LANGFUSE_STORED[0]
    if tool.output is None and result is not None:
        tool.output, tool.output_key = unwrap_output(result), LANGFUSE_STORED[1]
        tool.id = tool.id or tool.output.id


def with_status(tool: ToolSpan, span: Span) -> ToolSpan:
    """Mark a tool as failed whose status says so; Strands keeps the status beside the result."""
    for key in _STATUSES:
        if span.attributes.get(key) == "error" and tool.output:
            tool.output.failed = True
    return tool


def _suffix(name: str, prefix: str) -> str | None:
    return name[len(prefix) :] or None if name.startswith(prefix) else None
