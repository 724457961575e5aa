"""How to make a framework record the fields that a metric needs."""

from __future__ import annotations

from typing import NamedTuple

from carob.schema import Trace


class _Hint(NamedTuple):
    content: str
    tools: str
    usage: str


_OTEL = (
    "set OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental and "
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT"
)
_AZURE = "set AZURE_TRACING_GEN_AI_CONTENT_RECORDING_ENABLED=true"
_LEAVES = "instrument the model client too, so that each model call gets its own span"
_SESSION = {
    "adk": "run the agent with a session service, ADK then records the session id",
    "langsmith": "pass thread_id in the run's metadata",
    "langwatch": "set thread_id in the metadata of the trace",
    "mastra": "pass a thread in the memory options of the agent's call",
    "openai-agents": "pass group_id in the RunConfig",
    "openinference": "wrap the run in using_session(session_id)",
    "openllmetry": "call Traceloop.set_association_properties with a session_id",
    "strands": "pass trace_attributes={'session.id': …} to the Agent",
    "vercel": "pass metadata: { sessionId } in the telemetry settings",
}
_HINTS: dict[str, _Hint] = {
    "agntcy": _Hint(
        "decorate the agent's entry point with @agent",
        "decorate tools with @tool",
        _LEAVES,
    ),
    "adk": _Hint(f"{_OTEL} (ADK 2.13 and newer record no content without it)", _OTEL, _LEAVES),
    "agent-framework": _Hint(
        "enable sensitive data: ENABLE_SENSITIVE_DATA=true, or "
        "configure_otel_providers(enable_sensitive_data=True)",
        "enable sensitive data: ENABLE_SENSITIVE_DATA=true",
        _LEAVES,
    ),
    "agentops": _Hint("do not mask content in agentops.init", "decorate tools with @tool", _LEAVES),
    "any-agent": _Hint("use any-agent's own tracing", "use any-agent's own tracing", _LEAVES),
    "autogen": _Hint(
        "AutoGen records no content; instrument the model client as well",
        "AutoGen records no arguments or results; instrument the model client as well",
        _LEAVES,
    ),
    "azure-agents": _Hint(_AZURE, f"{_AZURE}, and list the run's steps after it", _LEAVES),
    "azure-foundry": _Hint(_AZURE, _AZURE, _LEAVES),
    "claude-code": _Hint(
        "set OTEL_LOG_USER_PROMPTS=1; Claude Code records what its model says only on request",
        "set OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1",
        _LEAVES,
    ),
    "codex": _Hint(
        "set log_user_prompt = true in Codex's [otel] settings, and read its log file too",
        "read Codex's log file beside the spans",
        _LEAVES,
    ),
    "genai": _Hint(_OTEL, _OTEL, _LEAVES),
    "genkit": _Hint(
        "use Genkit's own tracing, which records input and output",
        "use Genkit's own tracing, which records input and output",
        "use a model plugin that reports usage",
    ),
    "laminar": _Hint("set LMNR_TRACE_CONTENT=true", "observe tools with span_type=TOOL", _LEAVES),
    "langfuse": _Hint(
        "set input and output on the observations",
        "record tools as observations of type tool, with input and output",
        "set usage_details on the generations",
    ),
    "langsmith": _Hint(
        "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS",
        "unset LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS",
        "let the model return usage metadata (stream_usage=True when streaming)",
    ),
    "langwatch": _Hint(
        "decorate the agent with @langwatch.trace() without capture_input=False",
        'decorate tools with @langwatch.span(type="tool")',
        "pass the instrumentor of the model client to langwatch.setup",
    ),
    "litellm": _Hint(
        "set litellm.turn_off_message_logging = False",
        "set litellm.turn_off_message_logging = False",
        _LEAVES,
    ),
    "mastra": _Hint(
        "do not set hideInput or hideOutput in the tracing options",
        "do not set hideInput or hideOutput in the tracing options",
        _LEAVES,
    ),
    "mlflow": _Hint(
        "switch on autologging for the model's library, or set inputs and outputs on the spans",
        "trace tools with span_type=TOOL",
        "switch on autologging for the model's library",
    ),
    "monocle": _Hint(
        "let Monocle export the events of its spans",
        "let Monocle export the events of its spans",
        _LEAVES,
    ),
    "observations": _Hint(
        "record the input and output of the outermost span",
        "record tools as spans of their own type, with input and output",
        "record model calls as spans of their own type, with their token counts",
    ),
    "openai-agents": _Hint(
        "set trace_include_sensitive_data=True in the RunConfig; response spans hold only an id, "
        "so record through an instrumentation such as OpenInference",
        "set trace_include_sensitive_data=True in the RunConfig",
        "record through an instrumentation such as OpenInference",
    ),
    "openinference": _Hint(
        "unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        "unset OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS",
        _LEAVES,
    ),
    "openllmetry": _Hint(
        "set TRACELOOP_TRACE_CONTENT=true", "set TRACELOOP_TRACE_CONTENT=true", _LEAVES
    ),
    "opik": _Hint(
        "trace the model client too (track_openai), or decorate the agent with @track",
        'decorate tools with @track(type="tool")',
        "trace the model client too (track_openai)",
    ),
    "promptflow": _Hint(
        "trace the flow with its inputs and output",
        "decorate tools with @tool",
        "call start_trace before the model client is used",
    ),
    "pydantic-ai": _Hint(
        "pass InstrumentationSettings(include_content=True)",
        "pass InstrumentationSettings(include_content=True)",
        _LEAVES,
    ),
    "spring-ai": _Hint(
        "set spring.ai.chat.observations.log-prompt and .log-completion to true",
        "set spring.ai.tools.observations.include-content to true",
        _LEAVES,
    ),
    "strands": _Hint(
        "export span events too, or set OTEL_SEMCONV_STABILITY_OPT_IN="
        "gen_ai_latest_experimental; on AgentCore read the log file beside the spans",
        "export span events too; on AgentCore read the log file beside the spans",
        _LEAVES,
    ),
    "voltagent": _Hint(
        "use VoltAgent's own tracing, which records input and output",
        "use VoltAgent's own tracing, which records input and output",
        "use a model provider that reports usage",
    ),
    "vercel": _Hint(
        "set recordInputs: true and recordOutputs: true in experimental_telemetry",
        "set recordInputs: true and recordOutputs: true in experimental_telemetry",
        _LEAVES,
    ),
}
_KINDS = {
    "user": "content",
    "response": "content",
    "messages": "content",
    "tool_calls": "tools",
    "tool_args": "tools",
    "tool_results": "tools",
    "usage": "usage",
    "model_calls": "usage",
    "models": "usage",
}


def span_convention(trace: Trace) -> str:
    """Return the convention of a trace's spans; empty for one that was not made from spans, such as
    an ADK session, because settings of OpenTelemetry do not change what such a file has."""
    convention = trace.convention or ""
    return convention if (trace.mapper or convention).partition("@")[0] == convention else ""


def how_to_record(convention: str, field: str) -> str | None:
    """Return how to make a framework record a field; `None` if no way is known."""
    if field == "conversation":
        return _SESSION.get(convention)
    hint = _HINTS.get(convention)
    kind = _KINDS.get(field)
    return getattr(hint, kind) if hint is not None and kind is not None else None
