"""Every convention, in the order in which their marks are tried."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from carob.lazy import load_object

if TYPE_CHECKING:
    from carob.traces.mapping.convention import Convention

# The order matters where one span carries the marks of two conventions: Claude Code's tool spans
# also have Codex's `tool_name`, OpenInference's processor for Vercel leaves Vercel's attributes
# beside its own, and Langfuse adds its attributes to the spans of all others.
BUILTIN: dict[str, str] = {
    "mastra": "carob.traces.conventions.mastra:Mastra",
    "vercel": "carob.traces.conventions.vercel:Vercel",
    "openinference": "carob.traces.conventions.openinference:OpenInference",
    "langsmith": "carob.traces.conventions.langsmith:LangSmith",
    "openllmetry": "carob.traces.conventions.openllmetry:OpenLlmetry",
    "agntcy": "carob.traces.conventions.agntcy:Agntcy",
    "agentops": "carob.traces.conventions.agentops:AgentOps",
    "litellm": "carob.traces.conventions.litellm:LiteLlm",
    "laminar": "carob.traces.conventions.laminar:Laminar",
    "openai-agents": "carob.traces.conventions.openai_agents:OpenAiAgents",
    "opik": "carob.traces.conventions.opik:Opik",
    "langsmith-runs": "carob.traces.conventions.langsmith:LangSmithRun",
    "mlflow": "carob.traces.conventions.mlflow:MlFlow",
    "adk": "carob.traces.conventions.adk:Adk",
    "agent-framework": "carob.traces.conventions.agent_framework:AgentFramework",
    "pydantic-ai": "carob.traces.conventions.pydantic_ai:PydanticAi",
    "any-agent": "carob.traces.conventions.any_agent:AnyAgent",
    "observations": "carob.traces.conventions.observations:Observations",
    "monocle": "carob.traces.conventions.monocle:Monocle",
    "genkit": "carob.traces.conventions.genkit:Genkit",
    "voltagent": "carob.traces.conventions.voltagent:VoltAgent",
    "promptflow": "carob.traces.conventions.promptflow:Promptflow",
    "claude-code": "carob.traces.conventions.claude_code:ClaudeCode",
    "codex": "carob.traces.conventions.codex:Codex",
    "strands": "carob.traces.conventions.strands:Strands",
    "vercel-genai": "carob.traces.conventions.vercel:VercelGenAi",
    "openai-agents-logfire": "carob.traces.conventions.openai_agents:LogfireAgents",
    "autogen": "carob.traces.conventions.autogen:Autogen",
    "azure-agents": "carob.traces.conventions.azure:AzureAgents",
    "azure-foundry": "carob.traces.conventions.azure:Foundry",
    "spring-ai": "carob.traces.conventions.spring_ai:SpringAi",
    "langwatch": "carob.traces.conventions.langwatch:LangWatch",
    "langfuse": "carob.traces.conventions.langfuse:Langfuse",
    "genai": "carob.traces.conventions.genai:GenAi",
}

ConventionFinder: TypeAlias = "Callable[[], Iterable[Convention]]"
"""Returns the conventions of other packages. Must be a module-level function, because it is
pickled by name for the processes that read parts of large files."""

_finders: dict[ConventionFinder, None] = {}


def add_convention_finders(finders: Sequence[ConventionFinder]) -> None:
    """Ask these for further conventions, once, when no built-in convention finds an agent."""
    _finders.update(dict.fromkeys(finders))
    extra_conventions.cache_clear()


def convention_finders() -> tuple[ConventionFinder, ...]:
    """Return the added finders; a worker process starts with none and must be given them."""
    return tuple(_finders)


@cache
def builtin_conventions() -> tuple[Convention, ...]:
    """Return the conventions that come with Carob."""
    return tuple(load_object(reference)() for reference in BUILTIN.values())


@cache
def extra_conventions() -> tuple[Convention, ...]:
    """Return the conventions of other packages."""
    return tuple(convention for find in _finders for convention in find())
