"""OpenInference, and where its instrumentations differ.

- openai-agents: agents have no input or output, the model spans have.
- LangChain: the root agent holds `{"messages": […]}`, and after the run the whole thread.
- smolagents: the agent holds `{"task": …}`, and the answer is its `output.value`.
- CrewAI: no model spans; the crew holds its tasks and the answer under `raw`.
- llama-index: `_prepare_chat_with_tools` is not a model call.
- DSPy: the outermost module holds `{"input_args": {"question": …}}` and the answer by its name.
- Haystack: agents have the kind of a chain, and messages are printed.
- google-adk: each model call of an agent writes over what the one before it wrote on one span.
- claude-agent-sdk: `tool.parameters` are arguments; everywhere else they are a schema.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions import crewai
from carob.traces.conventions.genai import EVENTS_IN, EVENTS_OUT, GenAi, with_status
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    TokenKeys,
    first_text,
)
from carob.traces.mapping.graphs import is_graph_in_tool
from carob.traces.mapping.sources import (
    LANGFUSE_INPUT,
    LANGFUSE_OUTPUT,
    LANGFUSE_STORED,
    MessageSource,
    messages_in,
    messages_under,
    text_in,
)
from carob.traces.mapping.tool_spans import ToolSpan, is_schema, unwrap_output
from carob.traces.messages import events, numbered_attributes
from carob.traces.messages.message import Message
from carob.traces.messages.printed import parse_haystack_usage
from carob.traces.messages.read import read_messages
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import DROPPED
from carob.traces.shape import decode_json, text_or_none

_OPENAI_AGENTS_JS = "@arizeai/openinference-instrumentation-openai-agents"
_KIND = "openinference.span.kind"
_HEX_ID = re.compile(r"[0-9a-f]{12,}|[0-9a-f]{8}(?:-[0-9a-f]{4,12}){4}")
_LLAMA_INDEX = ".llama_index"
_CURRENT_AGENT = re.compile(r"\bcurrent_agent_name='([^']+)'")
_LONGEST_TAIL = 2_000
"""Characters at the end of a printed event that are searched for its agent."""
_SMOLAGENTS = ".smolagents"
_AGENT_KEYS = frozenset(("agent.name", "smolagents.max_steps"))
"""Attributes that only agents have."""
_HAYSTACK = ".haystack"
_SUPERVISOR_STEP = "call_agent"
"""The function of a supervisor around each of its agents."""
_BEEAI_EVENT = frozenset(("metadata.path", "metadata.id"))
"""What BeeAI's events have, each of which becomes a span within the span that it is about."""
_OUTPUT = messages_under("llm.output_messages", numbered_attributes.OPENINFERENCE)
_CONTENT = frozenset(("input.value", LANGFUSE_STORED[0]))
_ADK_RUN = "invoke_agent "
_ADK_AGENTS = ("agent_run [", _ADK_RUN)
"""How ADK names its agents' spans."""
_ROLES: dict[Json, SpanRole] = {
    "LLM": "model",
    "AGENT": "agent",
    "TOOL": "tool",
    "CHAIN": "chain",
    "RETRIEVER": "retriever",
    "GUARDRAIL": "guardrail",
    "EVALUATOR": "skip",
}


def _read_model_output(span: Span) -> list[Message] | None:
    """Read the messages, completed from the whole output: early versions recorded the ids of calls
    only there."""
    messages = _OUTPUT.read(span)
    calls = [call for message in messages or () for call in message.calls]
    is_partial = any(message.partial for message in messages or ())
    # Empty arguments are not recorded, and neither are those that got lost.
    if not is_partial and all(call.id and call.args for call in calls):
        return messages
    whole = read_messages(span.attributes.get("output.value"), "assistant")
    whole_calls = [call for message in whole for call in message.calls]
    if is_partial and len(whole_calls) > len(calls):
        return whole
    if [call.name for call in whole_calls] == [call.name for call in calls]:
        for call, whole_call in zip(calls, whole_calls, strict=True):
            call.id, call.args = call.id or whole_call.id, call.args or whole_call.args
    return messages


def _has_own_messages(span: Span) -> bool:
    """Whether the numbered attributes are the messages of one model call: on the span of ADK's
    agent, those of a shorter message leave some of a longer one before it."""
    is_model = span.attributes.get(_KIND) == "LLM" and DROPPED not in span.attributes
    return is_model and not span.name.startswith(_ADK_RUN)


def _is_openai_trace(span: Span) -> bool:
    """Whether a span is a whole trace of OpenAI's agents in JavaScript: it has the kind of an
    agent and the name of the workflow, and unlike an agent no node."""
    if span.scope != _OPENAI_AGENTS_JS or "graph.node.id" in span.attributes:
        return False
    return span.attributes.get(_KIND) == "AGENT"


class OpenInference(Convention):
    """Arize's OpenInference."""

    name: ClassVar[str] = "openinference"
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(
        attributes=(_KIND,), last_scopes=("openinference.instrumentation*",)
    )

    usage_keys: ClassVar = ("crew_id",)
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
            "metadata.usage.cached_prompt_tokens",  # BeeAI's
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
        text_in("final_result", "assistant"),  # pydantic-ai's, which may be an object
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
    graph_paths: ClassVar = ("metadata", "metadata.langgraph_checkpoint_ns")
    tool_names: ClassVar = ("tool.name", "tool_call.function.name", "gen_ai.tool.name")
    tool_ids: ClassVar = ("tool.id", "tool_call.id", "tool.call_id", "gen_ai.tool.call.id")
    tool_args: ClassVar = ("input.value", "tool_call.function.arguments", LANGFUSE_STORED[0])
    tool_results: ClassVar = ("output.value", LANGFUSE_STORED[1])

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the kind, with exceptions for single instrumentations."""
        kind = span.attributes.get(_KIND)
        if kind is None:
            is_agent = not _AGENT_KEYS.isdisjoint(span.attributes)
            return "agent" if is_agent else _role_from_log(span)
        role = _ROLES.get(kind.upper()) if isinstance(kind, str) else None
        if span.scope.endswith(".beeai") and not _BEEAI_EVENT.isdisjoint(span.attributes):
            return None
        if role == "chain":
            return _chain_role(span)
        if role == "agent":
            return self._agent_role(span)
        if role == "model" and span.name.endswith("_prepare_chat_with_tools"):
            return None
        if role == "tool" and span.name.startswith("handoff to "):
            name = first_text(span.attributes, self.tool_names)
            return None if name is None or name.startswith("handoff_to_") else role
        return role

    def _agent_role(self, span: Span) -> SpanRole:
        if self._is_whole_run(span):
            return "workflow"
        if "tool.name" in span.attributes:  # LangChain's, if so named
            return "tool"
        return "chain" if _is_step_of_graph(span) else "agent"

    def _is_whole_run(self, span: Span) -> bool:
        return _is_openai_trace(span) or (_is_bare(span) and self.agent_name(span) is None)

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the span's name unless it only names a method."""
        attribute = super().agent_name(span)
        if attribute is not None and _HEX_ID.fullmatch(attribute):  # Agno's `graph.node.id`
            attribute = None
        if attribute is None and _is_openai_trace(span):
            return None
        if attribute is None and (_is_named(span) or _is_agent_in_tool(span)):
            return span.name
        for prefix in _ADK_AGENTS if attribute is None else ():
            if span.name.startswith(prefix):
                return span.name[len(prefix) :].removesuffix("]") or None
        has_own_name = not (_CONTENT | _AGENT_KEYS).isdisjoint(span.attributes)
        if attribute or not (has_own_name or span.events):
            return attribute
        name = span.name.removesuffix(".run")
        if (
            name in ("LangGraph", "agent")
            or _is_haystack(span)
            or _metadata(span).get("langgraph_node") == name == "agent"
        ):
            return None
        return name if name and "." not in name else None

    def graph_path(self, span: Span) -> str | None:
        """Return the path in the metadata."""
        metadata = span.attributes.get("metadata")
        if isinstance(metadata, str) and "langgraph_checkpoint_ns" not in metadata:
            return None
        return text_or_none(_metadata(span).get("langgraph_checkpoint_ns"))

    def step_agent(self, span: Span) -> str | None:
        """Return the agent that a step of LlamaIndex's workflow runs, from a printed event."""
        if not span.scope.endswith(_LLAMA_INDEX):
            return None
        for key in ("input.value", "output.value"):
            text = text_or_none(span.attributes.get(key)) or ""
            if names := _CURRENT_AGENT.findall(text[-_LONGEST_TAIL:]):
                return names[-1]
        return None

    def inner_agent_name(self, span: Span) -> str | None:
        """Return the span's name: early versions gave OpenAI's agents nothing but a kind."""
        return span.name if _is_bare(span) and span.attributes.get(_KIND) == "AGENT" else None

    def input_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return numbered attributes first for models, and the whole value first for agents."""
        return self.model_inputs if _has_own_messages(span) else self.inputs

    def output_sources(self, span: Span) -> tuple[MessageSource, ...]:
        """Return numbered attributes first for models, and the whole value first for agents."""
        return self.model_outputs if _has_own_messages(span) else self.outputs

    def counts_all_runs(self, span: Span) -> bool:
        """Return whether it is a crew or smolagents' agent: these count from their creation on."""
        is_agent = span.attributes.get(_KIND, "AGENT") == "AGENT"
        return "crew_id" in span.attributes or (is_agent and span.scope.endswith(_SMOLAGENTS))

    def usage(self, span: Span) -> Usage:
        """Return the counts, else those in the output of a crew."""
        usage = super().usage(span)
        if usage.cached_tokens is None and span.scope.endswith(_HAYSTACK):
            output = text_or_none(span.attributes.get("output.value")) or ""
            return usage_of(parse_haystack_usage(output)) or usage
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
            tool.name = name or _tool_in_name(span)
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


def _chain_role(span: Span) -> SpanRole:
    if "crew_tasks" in span.attributes or "crew_id" in span.attributes:
        return "workflow" if span.name.endswith(("kickoff", "kickoff_async")) else "chain"
    if _is_haystack(span) or (span.parent_id is None and span.name.endswith(".forward")):
        return "workflow"
    if _is_named(span) or _is_agent_in_tool(span):
        return "agent"
    return "workflow" if span.parent_id is None and _is_graph(span) else "chain"


def _tool_in_name(span: Span) -> str | None:
    """The tool's name where spans are named after tools, not after their classes and methods."""
    name = span.name.removesuffix(".__call__")
    if not name or "." in name or " " in name or span.scope.endswith(_SMOLAGENTS):
        return None
    return name


def _metadata(span: Span) -> dict[str, Json]:
    attributes = span.attributes
    if "metadata" not in attributes:  # Phoenix takes it apart
        prefix = "metadata."
        return {k.removeprefix(prefix): v for k, v in attributes.items() if k.startswith(prefix)}
    metadata = attributes["metadata"]
    if isinstance(metadata, str):
        return _decode_metadata(metadata)
    return metadata if isinstance(metadata, dict) else {}


@lru_cache(maxsize=64)
def _decode_metadata(text: str) -> dict[str, Json]:
    """Decode the metadata of a span once: its role, its agent and its thread are all in it."""
    metadata = decode_json(text)
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


def _is_agent_in_tool(span: Span) -> bool:
    attributes = span.attributes
    sides = attributes.get("input.value"), attributes.get("output.value")
    return is_graph_in_tool(span.name, _metadata(span).get("langgraph_node"), *sides)


def _is_step_of_graph(span: Span) -> bool:
    """Whether it is a function of a graph that only has the word `agent` in its name."""
    node = _metadata(span).get("langgraph_node")
    if node is None and span.name == _SUPERVISOR_STEP:
        return True
    return node is not None and node != span.name and not _is_named(span)


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
