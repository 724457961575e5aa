"""OpenInference, and where its instrumentations differ.

- openai-agents: agents have no input or output, the model spans have.
- LangChain: the root agent holds `{"messages": […]}`, and after the run the whole thread.
- smolagents: the agent holds `{"task": …}`, and the answer is its `output.value`.
- CrewAI: no model spans; the crew holds its tasks and the answer under `raw`.
- llama-index: `_prepare_chat_with_tools` is not a model call.
- DSPy: the outermost module holds `{"input_args": {"question": …}}` and the answer by its name.
- Haystack: agents have the kind of a chain, and messages are printed.
- claude-agent-sdk: `tool.parameters` are arguments; everywhere else they are a schema.
"""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions import crewai
from carob.traces.conventions.genai import EVENTS_IN, EVENTS_OUT, GenAi, with_status
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
    messages_under,
)
from carob.traces.mapping.tool_spans import ToolSpan, is_schema, unwrap_output
from carob.traces.messages import events, numbered_attributes
from carob.traces.messages.message import Message
from carob.traces.messages.read import read_messages
from carob.traces.shape import decode_json, text_or_none

_KIND = "openinference.span.kind"
_OUTPUT = messages_under("llm.output_messages", numbered_attributes.OPENINFERENCE)
_CONTENT = frozenset(("input.value", LANGFUSE_STORED[0]))
_ADK_AGENTS = ("agent_run [", "invoke_agent ")
"""How ADK names its agents' spans."""
_ROLES: dict[Json, SpanRole] = {
    "LLM": "model",
    "AGENT": "agent",
    "TOOL": "tool",
    "CHAIN": "chain",
    "RETRIEVER": "retriever",
    "EVALUATOR": "skip",
}


def _read_model_output(span: Span) -> list[Message] | None:
    """Read the messages; early versions recorded the ids of calls only in the whole output."""
    messages = _OUTPUT.read(span)
    calls = [call for message in messages or () for call in message.calls]
    if not calls or any(call.id for call in calls):
        return messages
    whole = read_messages(span.attributes.get("output.value"), "assistant")
    whole_calls = [call for message in whole for call in message.calls]
    if [call.name for call in whole_calls] == [call.name for call in calls]:
        for call, whole_call in zip(calls, whole_calls, strict=True):
            call.id = whole_call.id
    return messages


class OpenInference(Convention):
    """Arize's OpenInference."""

    name: ClassVar[str] = "openinference"
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(
        attributes=(_KIND,), last_scopes=("openinference.instrumentation*",)
    )

    agent_names: ClassVar = ("agent.name", "gen_ai.agent.name", "graph.node.id")
    models: ClassVar = ("llm.model_name", *GenAi.models)
    providers: ClassVar = ("llm.provider", "llm.system", *GenAi.providers)
    finishes: ClassVar = ("llm.finish_reason", *GenAi.finishes)
    conversations: ClassVar = ("session.id", "gen_ai.conversation.id", "metadata.thread_id")
    tokens: ClassVar = TokenKeys(
        input=("llm.token_count.prompt", *GenAi.tokens.input),
        output=("llm.token_count.completion", *GenAi.tokens.output),
        cached=(
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cached_tokens",
            *GenAi.tokens.cached,
        ),
        cache_write=("llm.token_count.prompt_details.cache_write", *GenAi.tokens.cache_write),
        reasoning=("llm.token_count.completion_details.reasoning", *GenAi.tokens.reasoning),
        total=("llm.token_count.total", *GenAi.tokens.total),
    )
    inputs: ClassVar = (
        *crewai.TASKS,
        messages_in("input.value", "user"),
        messages_under("llm.input_messages", numbered_attributes.OPENINFERENCE),
        EVENTS_IN,
        LANGFUSE_INPUT,
    )
    outputs: ClassVar = (
        messages_in("output.value", "assistant"),
        _OUTPUT,
        EVENTS_OUT,
        LANGFUSE_OUTPUT,
    )
    transcripts: ClassVar = (crewai.RUN,)
    model_inputs: ClassVar = (
        messages_under("llm.input_messages", numbered_attributes.OPENINFERENCE),
        messages_in("input.value", "user"),
        *GenAi.inputs,
    )
    model_outputs: ClassVar = (
        _OUTPUT._replace(read=_read_model_output),
        messages_in("output.value", "assistant"),
        *GenAi.outputs,
    )
    tool_names: ClassVar = ("tool.name", "tool_call.function.name", "gen_ai.tool.name")
    tool_ids: ClassVar = ("tool.id", "tool_call.id", "tool.call_id", "gen_ai.tool.call.id")
    tool_args: ClassVar = ("input.value", "tool_call.function.arguments", LANGFUSE_STORED[0])
    tool_results: ClassVar = ("output.value", LANGFUSE_STORED[1])

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the kind, with exceptions for single instrumentations."""
        kind = span.attributes.get(_KIND)
        if kind is None:
            return _role_from_log(span)
        role = _ROLES.get(kind.upper()) if isinstance(kind, str) else None
        if role == "chain" and ("crew_tasks" in span.attributes or "crew_id" in span.attributes):
            return "workflow" if span.name.endswith(("kickoff", "kickoff_async")) else role
        if role == "chain" and span.parent_id is None and span.name.endswith(".forward"):
            return "workflow"
        if role == "chain" and _is_haystack(span):
            return "workflow"
        if role == "model" and span.name.endswith("_prepare_chat_with_tools"):
            return None
        if role == "agent" and _is_bare(span) and self.agent_name(span) is None:
            return "workflow"
        if role == "agent" and "tool.name" in span.attributes:  # LangChain's, if so named
            return "tool"
        if role == "tool" and span.name.startswith("handoff to "):
            return role if first_text(span.attributes, self.tool_names) else None
        if role == "chain" and (_is_named(span) or (span.parent_id is None and _is_graph(span))):
            return "agent"
        return role

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the span's name unless it only names a method."""
        attribute = super().agent_name(span)
        if attribute is None and _is_named(span):
            return span.name
        for prefix in _ADK_AGENTS if attribute is None else ():
            if span.name.startswith(prefix):
                return span.name[len(prefix) :].removesuffix("]") or None
        if attribute or not (_CONTENT & span.attributes.keys() or span.events):
            return attribute
        name = span.name.removesuffix(".run")
        if (
            name == "LangGraph"
            or _is_haystack(span)
            or _metadata(span).get("langgraph_node") == name == "agent"
        ):
            return None
        return name if name and "." not in name else None

    def inner_agent_name(self, span: Span) -> str | None:
        """Return the span's name: early versions gave OpenAI's agents nothing but a kind."""
        return span.name if _is_bare(span) and span.attributes.get(_KIND) == "AGENT" else None

    def input_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return numbered attributes first for models, and the whole value first for agents."""
        return self.model_inputs if span.attributes.get(_KIND) == "LLM" else self.inputs

    def output_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return numbered attributes first for models, and the whole value first for agents."""
        return self.model_outputs if span.attributes.get(_KIND) == "LLM" else self.outputs

    def usage(self, span: Span) -> Usage:
        """Return the counts, else those in the output of a crew."""
        usage = super().usage(span)
        if usage.input_tokens is not None or "crew_id" not in span.attributes:
            return usage
        return crewai.usage(span.attributes.get("output.value")) or usage

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; `tool.parameters` may hold the arguments, or the schema."""
        tool = super().tool(span)
        if tool.raw_args is None and tool.output is None and span.events:
            tool = _tool_from_log(span)
        if tool.name is None:
            name = crewai.tool_name(span.attributes.get("input.value"))
            tool.name = name or span.name.removesuffix(".__call__") or None
        if "tool.parameters" in span.attributes and not isinstance(tool.args, dict):
            declared = decode_json(span.attributes["tool.parameters"])
            if isinstance(declared, dict) and declared and not is_schema(declared):
                tool.raw_args, tool.args_key = declared, "tool.parameters"
        return with_status(tool, span)

    def conversation_id(self, span: Span) -> str | None:
        """Return the session, else LangGraph's thread in the metadata."""
        session = super().conversation_id(span)
        if session or "metadata" not in span.attributes:
            return session
        return first_text(_metadata(span), ("thread_id",))


def _metadata(span: Span) -> dict[str, Json]:
    attributes = span.attributes
    if "metadata" not in attributes:  # Phoenix takes it apart
        prefix = "metadata."
        return {k.removeprefix(prefix): v for k, v in attributes.items() if k.startswith(prefix)}
    metadata = decode_json(attributes["metadata"])
    return metadata if isinstance(metadata, dict) else {}


def _is_bare(span: Span) -> bool:
    """Whether it has hardly more than its kind, not counting what Langfuse added."""
    return len([key for key in span.attributes if not key.startswith("langfuse.")]) <= 2


def _is_haystack(span: Span) -> bool:
    """Whether it is Haystack's agent, which has no name of its own."""
    if span.name not in ("Agent.run", "Agent.run_async"):
        return False
    return "ChatMessage(" in (text_or_none(span.attributes.get("input.value")) or "")


def _is_named(span: Span) -> bool:
    """Whether it has the name of LangChain's agent; the spans within it only mention the name."""
    metadata = span.attributes.get("metadata")
    if isinstance(metadata, str) and "lc_agent_name" not in metadata:
        return False
    return _metadata(span).get("lc_agent_name") == span.name


def _is_graph(span: Span) -> bool:
    """Whether it is a whole graph of LangGraph; spans of nodes name their node."""
    metadata = _metadata(span)
    return metadata.get("ls_integration") == "langgraph" and "langgraph_node" not in metadata


# AWS's distribution of OpenTelemetry (ADOT) moves the content of spans into log records. Where only
# the log records are left, their content is all that shows the role of a span.
def _role_from_log(span: Span) -> SpanRole | None:
    received, returned = (decode_json(side) for side in events.read_tool_events(span))
    if not isinstance(returned, dict):
        return None
    if "generations" in returned:
        return "model"
    if returned.get("type") == "tool" or "tool_call_id" in returned:
        return "tool"
    if not isinstance(received, dict) or "messages" not in received:
        return None
    # Unlike the graph itself, a node of the graph knows how many steps remain.
    return "agent" if "remaining_steps" not in received and "messages" in returned else None


def _tool_from_log(span: Span) -> ToolSpan:
    args, result = events.read_tool_events(span)
    output = None if result is None else unwrap_output(result)
    fields = decode_json(result)
    name = text_or_none(span.attributes.get("tool.name"))
    if name is None and isinstance(fields, dict):
        name = text_or_none(fields.get("name"))
    return ToolSpan(name, output.id if output else None, args, output)
