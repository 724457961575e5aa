"""AgentOps: its own span kinds around numbered prompts and completions."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.crewai import RESULT, TASKS
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.mapping.tool_spans import ToolSpan

_KIND = "agentops.span.kind"
_ROLES: dict[Json, SpanRole] = {
    "agent": "agent",
    "llm": "model",
    "tool": "tool",
    "session": "workflow",
    "workflow": "workflow",
    "task": "chain",
    "workflow.step": "chain",
    "operation": "chain",
    "chain": "chain",
}


class AgentOps(GenAi):
    """AgentOps' SDK."""

    name: ClassVar[str] = "agentops"
    marks: ClassVar = SpanMarks(attributes=(_KIND,))

    agent_names: ClassVar = ("agent.name", "gen_ai.agent.name", "agent.role", "operation.name")
    inputs: ClassVar = (
        *TASKS,
        *GenAi.inputs,
        messages_in("agentops.entity.input", "user"),
        messages_in("agentops.task.input", "user"),
    )
    outputs: ClassVar = (
        RESULT,
        *GenAi.outputs,
        messages_in("agentops.entity.output", "assistant"),
        messages_in("agentops.task.output", "assistant"),
    )
    tool_names: ClassVar = (
        "tool.name",
        "gen_ai.tool.name",
        "agentops.entity.name",
        "operation.name",
    )
    tool_ids: ClassVar = (*GenAi.tool_ids, "tool.call.id")
    tool_args: ClassVar = (
        "tool.parameters",
        *GenAi.tool_args,
        "agentops.entity.input",
        "agentops.tool.input",
    )
    tool_results: ClassVar = (
        "tool.result",
        *GenAi.tool_results,
        "agentops.entity.output",
        "agentops.tool.output",
    )

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the kind, which may be printed as `AgentOpsSpanKindValues.TOOL`."""
        kind = _kind(span)
        return _ROLES.get(kind.removeprefix("agentopsspankindvalues.")) if kind else None

    def tool(self, span: Span) -> ToolSpan:
        """Return a tool that ran or, below a model's span, a call that the model requested."""
        tool = super().tool(span)
        tool.is_request = span.name.startswith("tool_call.")
        return tool

    def agent_name(self, span: Span) -> str | None:
        """Return the agent's name; the name of a session is not one."""
        return super().agent_name(span) if _kind(span) == "agent" else None


def _kind(span: Span) -> str | None:
    kind = span.attributes.get(_KIND)
    return kind.lower() if isinstance(kind, str) else None
