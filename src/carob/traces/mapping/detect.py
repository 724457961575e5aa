"""Which convention explains a span, by the attributes that only it writes."""

from __future__ import annotations

import msgspec

from carob.schema import Json, Span
from carob.traces.conventions import azure, claude_code, laminar, logfire_agents, spring_ai
from carob.traces.conventions.adk import MARKS as ADK_MARKS
from carob.traces.conventions.adk import Adk
from carob.traces.conventions.agent_framework import AgentFramework
from carob.traces.conventions.agentops import AgentOps
from carob.traces.conventions.any_agent import AnyAgent
from carob.traces.conventions.autogen import Autogen
from carob.traces.conventions.codex import COUNT, Codex
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.langfuse import Langfuse
from carob.traces.conventions.langsmith import LangSmith, LangSmithRun
from carob.traces.conventions.mlflow import MlFlow
from carob.traces.conventions.openai_agents import OpenAiAgents
from carob.traces.conventions.openinference import OpenInference
from carob.traces.conventions.openllmetry import OpenLlmetry
from carob.traces.conventions.pydantic_ai import PydanticAi
from carob.traces.conventions.strands import Strands
from carob.traces.conventions.vercel import Vercel, VercelGenAi
from carob.traces.mapping import detect
from carob.traces.mapping.convention import Convention, SpanRole

_GENAI = GenAi()
_OPENINFERENCE = OpenInference()
_ADK = Adk()
_PYDANTIC = PydanticAi()
_FRAMEWORK = AgentFramework()
_STRANDS = Strands()
_ANY_AGENT = AnyAgent()
_OPENLLMETRY = OpenLlmetry()
_LANGFUSE = Langfuse()
_CODEX = Codex()
_VERCEL = Vercel()

_MARKS: dict[str, Convention] = {
    "openinference.span.kind": _OPENINFERENCE,
    "ai.operationId": _VERCEL,
    "langsmith.span.kind": LangSmith(),
    "traceloop.span.kind": _OPENLLMETRY,
    "agentops.span.kind": AgentOps(),
    laminar.MARK: laminar.Laminar(),
}
"""Attributes that outrank the operation, which such spans may carry as well."""
_LATE_MARKS: dict[str, Convention] = {
    "llm.request.type": _OPENLLMETRY,
    "openai_agents.type": OpenAiAgents(),
    "langsmith.run_type": LangSmithRun(),
    "mlflow.spanType": MlFlow(),
    **dict.fromkeys(ADK_MARKS, _ADK),
    "workflow.id": _FRAMEWORK,
    "all_messages_events": _PYDANTIC,
    "pydantic_ai.all_messages": _PYDANTIC,
    f"{COUNT}input_tokens": _CODEX,
    claude_code.MARK: claude_code.ClaudeCode(),
    "tool_name": _CODEX,
    "langfuse.observation.type": _LANGFUSE,
}
_OPERATION_MARKS: dict[str, Convention] = {
    **dict.fromkeys(ADK_MARKS, _ADK),
    "logfire.msg": _PYDANTIC,
    "model_request_parameters": _PYDANTIC,
    "pydantic_ai.all_messages": _PYDANTIC,
    "any_agent.final_output": _ANY_AGENT,
    "gen_ai.output": _ANY_AGENT,
    "genai.output": _ANY_AGENT,
}
"""Attributes that tell whose operation it is where the scope is lost."""
_SCOPES: dict[str, Convention] = {
    "gcp.vertex.agent": _ADK,
    "pydantic-ai": _PYDANTIC,
    "strands.telemetry.tracer": _STRANDS,
    "agent_framework": _FRAMEWORK,
    "gen_ai": VercelGenAi(),
    "any_agent": _ANY_AGENT,
    logfire_agents.SCOPE: logfire_agents.LogfireAgents(),
}
_SYSTEMS: dict[object, Convention] = {
    "gcp.vertex.agent": _ADK,
    "strands-agents": _STRANDS,
    "microsoft.agent_framework": _FRAMEWORK,
    "autogen": Autogen(),
    azure.SYSTEM: azure.AzureAgents(),
    azure.PROVIDER: azure.Foundry(),
    spring_ai.SYSTEM: spring_ai.SpringAi(),
    "crewai": _OPENLLMETRY,
}
_NAMES = ("agent_run [", "invocation", "call_llm", "invoke_agent ", "execute_tool ")

CONVENTIONS: tuple[Convention, ...] = tuple(
    dict.fromkeys(
        (
            _GENAI,
            *_MARKS.values(),
            *_LATE_MARKS.values(),
            *_SCOPES.values(),
            *_SYSTEMS.values(),
        )
    )
)


_MAX_SHAPES = 1024
_MAX_KEYS = 256
_shapes: dict[tuple[Json, ...], tuple[Convention | None, SpanRole | None]] = {}
"""What explains spans of the same scope, system, operation and attributes, narrowed to them, and
the role that all of them have if they all have one."""


def identify(span: Span, *, is_spelled: bool = False) -> tuple[Span, Convention, SpanRole] | None:
    """The convention and the role of a span, and the span as that convention expects it."""
    held = span.attributes
    # Recorders write spans of a few shapes over and over: what is known of one is kept.
    shape = (
        span.scope,
        held.get("gen_ai.provider.name"),
        held.get("gen_ai.system"),
        held.get("gen_ai.operation.name"),
        *(held or (span.name.startswith(_NAMES),)),
    )
    try:
        convention, role = _shapes[shape]
    except (KeyError, TypeError):  # a system or an operation that is no text cannot be kept
        convention, role = _learned(span, shape)
    if convention is None:
        spelled = None if is_spelled else detect.flattened(span)
        found = identify(spelled, is_spelled=True) if spelled is not None else None
        return found or _named(span)
    role = role or convention.role(span)
    return None if role is None else (span, convention, role)


def _named(span: Span) -> tuple[Span, Convention, SpanRole] | None:
    """ADK's names tell where no attribute does: converters keep the names and drop the rest."""
    role = _ADK.role(span) if span.name.startswith(_NAMES) else None
    return None if role is None else (span, _ADK, role)


def _learned(span: Span, shape: tuple[Json, ...]) -> tuple[Convention | None, SpanRole | None]:
    found = _explained(span)
    if len(_shapes) < _MAX_SHAPES and len(shape) <= _MAX_KEYS and _is_kept(shape):
        _shapes[shape] = found
    return found


def _is_kept(shape: tuple[Json, ...]) -> bool:
    return not any(isinstance(part, dict | list) for part in shape)


def _explained(span: Span) -> tuple[Convention | None, SpanRole | None]:
    found = _narrowed(span)
    return found, found.common_role(span) if found is not None else None


def _narrowed(span: Span) -> Convention | None:
    found = _convention(span)
    return found.narrowed(span.attributes) if found is not None else None


def _convention(span: Span) -> Convention | None:
    attributes = span.attributes
    if not attributes:
        return _by_name(span)
    lacks = attributes.keys().isdisjoint
    if not lacks(_MARKS):
        return _marked(span, _MARKS)
    if "gen_ai.operation.name" in attributes:
        return _SCOPES.get(span.scope) or _by_system(span)
    if not lacks(_LATE_MARKS):
        found = _marked(span, _LATE_MARKS)
        return _SCOPES.get(span.scope, found) if found is _LANGFUSE else found
    return _by_name(span)


def _marked(span: Span, marks: dict[str, Convention]) -> Convention | None:
    for key, convention in marks.items():
        if key in span.attributes:
            return convention
    return None


def _by_system(span: Span) -> Convention:
    attributes = span.attributes
    system = attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system")
    found = _SYSTEMS.get(system) if isinstance(system, str) else None
    return found or _marked(span, _OPERATION_MARKS) or _GENAI


def _by_name(span: Span) -> Convention | None:
    """Spans without an attribute that tells: the scope if it is known, else ADK's names."""
    found = _SCOPES.get(span.scope)
    if found is not None:
        return found
    if span.scope == "ai":
        return _VERCEL
    if span.scope.startswith("openinference.instrumentation"):
        return _OPENINFERENCE
    if "gen_ai.request.model" in span.attributes or "gen_ai.tool.name" in span.attributes:
        return _GENAI
    if span.attributes.get("gen_ai.system") == "gcp.vertex.agent":
        return _ADK
    if not span.attributes and span.name.startswith(_NAMES):
        return _ADK
    return None


_HEADS = ("openinference", "llm", "gen_ai", "agentops", "traceloop", "ai", "gcp", "langsmith")
_DEPTH = 12
_LIMIT = 20_000
"""Attributes of one span that are spelled out."""


def flattened(span: Span) -> Span | None:
    """The span with dotted names, or `None` if its attributes are not nested."""
    attributes = span.attributes
    for head in _HEADS:
        if isinstance(attributes.get(head), dict):
            return msgspec.structs.replace(span, attributes=_spell(attributes))
    return None


def _spell(attributes: dict[str, Json]) -> dict[str, Json]:
    """Inner nodes keep their own name too: an object may be a value as well as a path."""
    found: dict[str, Json] = {}
    queue: list[tuple[str, Json, int]] = [(key, value, 0) for key, value in attributes.items()]
    for key, value, depth in queue:
        if len(found) >= _LIMIT:
            break
        found.setdefault(key, value)
        if depth >= _DEPTH:
            continue
        if isinstance(value, dict):
            queue.extend((f"{key}.{name}", inner, depth + 1) for name, inner in value.items())
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            queue.extend((f"{key}.{i}", inner, depth + 1) for i, inner in enumerate(value))
    return found
