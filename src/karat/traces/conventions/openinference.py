"""OpenInference, and what sets its producers apart.

- openai-agents: agents have no input or output, the model spans have.
- LangChain: the root agent holds `{"messages": […]}`, and after the run the whole thread.
- smolagents: the agent holds `{"task": …}`, and the answer is its `output.value`.
- CrewAI: no model spans; the crew holds its tasks and the answer under `raw`.
- llama-index: `_prepare_chat_with_tools` is no model call.
- claude-agent-sdk: `tool.parameters` are arguments; everywhere else they are a schema.
"""

from __future__ import annotations

from typing import ClassVar

from karat.schema import Json, Span, Usage
from karat.traces.conventions import adot, crewai, flat
from karat.traces.conventions.convention import (
    Convention,
    Source,
    SpanRole,
    Tokens,
    Tool,
    attribute,
    numbered,
)
from karat.traces.conventions.decoding import loads
from karat.traces.conventions.genai import EVENTS_IN, EVENTS_OUT, GenAi
from karat.traces.conventions.tools import is_schema

_KIND = "openinference.span.kind"
_ROLES: dict[Json, SpanRole] = {
    "LLM": "model",
    "AGENT": "agent",
    "TOOL": "tool",
    "CHAIN": "chain",
    "RETRIEVER": "retriever",
    "EVALUATOR": "skip",
}


class OpenInference(Convention):
    """Arize's OpenInference."""

    name: ClassVar[str] = "openinference"

    agent_names: ClassVar = ("agent.name", "gen_ai.agent.name", "graph.node.id")
    models: ClassVar = ("llm.model_name", *GenAi.models)
    providers: ClassVar = ("llm.provider", "llm.system", *GenAi.providers)
    finishes: ClassVar = ("llm.finish_reason", *GenAi.finishes)
    conversations: ClassVar = ("session.id", "gen_ai.conversation.id")
    tokens: ClassVar = Tokens(
        input=("llm.token_count.prompt",),
        output=("llm.token_count.completion",),
        cached=(
            "llm.token_count.prompt_details.cache_read",
            "llm.token_count.prompt_details.cached_tokens",
        ),
        cache_write=("llm.token_count.prompt_details.cache_write",),
        reasoning=("llm.token_count.completion_details.reasoning",),
        total=("llm.token_count.total",),
    )
    inputs: ClassVar = (
        *crewai.TASKS,
        attribute("input.value", "user"),
        numbered("llm.input_messages", flat.OPENINFERENCE),
        EVENTS_IN,
    )
    outputs: ClassVar = (
        attribute("output.value", "assistant"),
        numbered("llm.output_messages", flat.OPENINFERENCE),
        EVENTS_OUT,
    )
    model_inputs: ClassVar = (
        numbered("llm.input_messages", flat.OPENINFERENCE),
        attribute("input.value", "user"),
        *GenAi.inputs,
    )
    model_outputs: ClassVar = (
        numbered("llm.output_messages", flat.OPENINFERENCE),
        attribute("output.value", "assistant"),
        *GenAi.outputs,
    )
    tool_names: ClassVar = ("tool.name", "tool_call.function.name", "gen_ai.tool.name")
    tool_ids: ClassVar = ("tool.id", "tool_call.id", "gen_ai.tool.call.id")
    tool_args: ClassVar = ("input.value", "tool_call.function.arguments")
    tool_results: ClassVar = ("output.value",)

    def role(self, span: Span) -> SpanRole | None:
        """By the kind."""
        kind = span.attributes.get(_KIND)
        if kind is None:
            return adot.role(span)
        role = _ROLES.get(kind.upper()) if isinstance(kind, str) else None
        if role == "chain" and ("crew_tasks" in span.attributes or "crew_id" in span.attributes):
            return "workflow" if span.name.endswith(("kickoff", "kickoff_async")) else role
        if role == "model" and span.name.endswith("_prepare_chat_with_tools"):
            return None
        if role == "agent" and len(span.attributes) <= 2 and self.agent(span) is None:
            return "workflow"
        return role

    def agent(self, span: Span) -> str | None:
        """By attribute, else by the span's name if it says more than which method ran."""
        found = super().agent(span)
        if found or "input.value" not in span.attributes:
            return found
        name = span.name.removesuffix(".run")
        return name if name and "." not in name else None

    def inputs_of(self, span: Span) -> tuple[Source, ...]:
        """A model's messages are spread out; an agent's are in its value."""
        return self.model_inputs if span.attributes.get(_KIND) == "LLM" else self.inputs

    def outputs_of(self, span: Span) -> tuple[Source, ...]:
        """Likewise."""
        return self.model_outputs if span.attributes.get(_KIND) == "LLM" else self.outputs

    def usage(self, span: Span) -> Usage:
        """The counts, else what a crew's output sums up."""
        found = super().usage(span)
        if found.input_tokens is not None or "crew_id" not in span.attributes:
            return found
        return crewai.usage(span.attributes.get("output.value")) or found

    def tool(self, span: Span) -> Tool:
        """The arguments may be in `tool.parameters`, unless it is the schema, or in a log."""
        found = super().tool(span)
        if found.recorded is None and found.answer is None and span.events:
            found = adot.tool(span)
        if found.name is None:
            named = crewai.tool_name(span.attributes.get("input.value"))
            found.name = named or span.name or None
        if "tool.parameters" in span.attributes and not isinstance(found.args, dict):
            declared = loads(span.attributes["tool.parameters"])
            if isinstance(declared, dict) and declared and not is_schema(declared):
                found.recorded, found.args_key = declared, "tool.parameters"
        return found

    def conversation(self, span: Span) -> str | None:
        """The session, else LangGraph's thread in the metadata."""
        found = super().conversation(span)
        metadata = span.attributes.get("metadata")
        if found or metadata is None:
            return found
        decoded = loads(metadata)
        thread = decoded.get("thread_id") if isinstance(decoded, dict) else None
        return thread if isinstance(thread, str) else None
