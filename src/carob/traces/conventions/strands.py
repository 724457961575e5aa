"""Strands Agents: OTel GenAI in span events, old or new; AgentCore moves them into logs."""

from __future__ import annotations

from typing import ClassVar

from carob.traces.conventions.genai import GenAi


class Strands(GenAi):
    """Strands Agents. The usage of its agent spans adds up over the agent's life."""

    name: ClassVar[str] = "strands"
