"""AgentOps: its own span kinds around numbered prompts and completions."""

from __future__ import annotations

from typing import ClassVar

from karat.schema import Json, Span
from karat.traces.conventions.convention import SpanRole, attribute
from karat.traces.conventions.crewai import RESULT, TASKS
from karat.traces.conventions.genai import GenAi

KIND = "agentops.span.kind"
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

    agent_names: ClassVar = ("agent.name", "gen_ai.agent.name", "agent.role")
    inputs: ClassVar = (
        *TASKS,
        *GenAi.inputs,
        attribute("agentops.entity.input", "user"),
    )
    outputs: ClassVar = (
        RESULT,
        *GenAi.outputs,
        attribute("agentops.entity.output", "assistant"),
    )
    tool_names: ClassVar = ("tool.name", "gen_ai.tool.name", "agentops.entity.name")
    tool_args: ClassVar = ("tool.parameters", *GenAi.tool_args, "agentops.entity.input")
    tool_results: ClassVar = ("tool.result", *GenAi.tool_results, "agentops.entity.output")

    def role(self, span: Span) -> SpanRole | None:
        """By the kind."""
        kind = span.attributes.get(KIND)
        return _ROLES.get(kind.lower()) if isinstance(kind, str) else None
