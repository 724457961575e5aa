"""Microsoft Agent Framework: new OTel GenAI; the agent's output holds the whole run."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole


class AgentFramework(GenAi):
    """Microsoft Agent Framework."""

    name: ClassVar[str] = "agent-framework"
    marks: ClassVar = SpanMarks(
        scopes=("agent_framework",),
        systems=("microsoft.agent_framework",),
        late_attributes=("workflow.id",),
    )
    agent_names: ClassVar = (*GenAi.agent_names, "workflow.name")

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation; the run of a workflow has none."""
        if span.name.startswith("workflow.run"):
            return "workflow"
        return super().role(span)

    def agent_name(self, span: Span) -> str | None:
        """Return the agent's name; a workflow is not an agent."""
        return None if span.name.startswith("workflow.run") else super().agent_name(span)
