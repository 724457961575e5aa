"""Strands Agents: OTel GenAI in span events, old or new; AgentCore moves them into logs."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks


class Strands(GenAi):
    """Strands Agents. The usage of an agent span is the total since the agent was created."""

    name: ClassVar[str] = "strands"
    marks: ClassVar = SpanMarks(scopes=("strands.telemetry.tracer",), systems=("strands-agents",))

    def counts_all_runs(self, span: Span) -> bool:
        """Decide by the operation: model calls count themselves."""
        return span.attributes.get("gen_ai.operation.name") != "chat"
