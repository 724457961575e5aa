"""W&B Weave: calls of its API, which are decorated functions and the model clients below them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.mapping.convention import SpanRole
from carob.traces.shape import as_object, as_text

_CLIENTS = ("openai.", "anthropic.", "litellm.", "mistralai.", "cohere.", "groq.", "google.genai.")
"""How the operations begin that Weave's integrations record for model clients."""
_LANGCHAIN: dict[str, SpanRole] = {
    "Llm": "model",
    "Chat": "model",
    "Tool": "tool",
    "Retriever": "retriever",
}
"""The types of LangChain's runs, `Llm` in `langchain.Llm.ChatOpenAI`; all others are steps."""
_KINDS: dict[Json, SpanRole] = {"llm": "model", "tool": "tool", "agent": "agent"}


class Weave:
    """A call: an `op_name` with a trace id."""

    name = "weave"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return isinstance(fields.get("op_name"), str) and fields.keys() >= {"id", "trace_id"}

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        call = as_object(item)
        operation = _operation(as_text(call.get("op_name")) or "")
        if operation.startswith("langchain."):
            yield _read_run(call, operation)
            return
        role = _role(call, operation)
        # A call without the self of its method: `self` is the object, not an input.
        inputs = {key: v for key, v in as_object(call.get("inputs")).items() if key != "self"}
        model, usage = _counts(call) if role == "model" else (None, None)
        yield _observe(
            call,
            role,
            name=as_text(call.get("display_name")) or operation,
            input=inputs,
            output=call.get("output"),
            model=model or (as_text(inputs.get("model")) if role == "model" else None),
            usage=usage,
            agent=operation if role == "agent" else None,
            conversation=as_text(call.get("thread_id")),
        )


def _read_run(call: dict[str, Json], operation: str) -> Span:
    """A run of LangChain, which is the output of its call. Its type is in the name of the
    operation: the kinds that Weave states are also those of runs before it."""
    _, kind, name = (*operation.split(".", 2), "", "")[:3]
    run = as_object(call.get("output"))
    name = as_text(run.get("name")) or name
    metadata = as_object(as_object(run.get("extra")).get("metadata"))
    role = _LANGCHAIN.get(kind) or ("chain" if call.get("parent_id") else "workflow")
    if kind == "Chain" and metadata.get("lc_agent_name") == name:
        role = "agent"
    model, usage = _counts(call) if role == "model" else (None, None)
    return _observe(
        call,
        role,
        name=name,
        input=call.get("inputs"),
        output=run.get("outputs"),
        model=model,
        usage=usage,
        agent=name if role == "agent" else None,
        conversation=as_text(metadata.get("thread_id")) or as_text(call.get("thread_id")),
        graph_path=as_text(metadata.get("langgraph_checkpoint_ns")),
        error=as_text(run.get("error")),
    )


def _observe(
    call: dict[str, Json], role: SpanRole, error: str | None = None, **fields: Any
) -> Span:
    return Observation(
        recorder="weave",
        role=role,
        trace_id=call.get("trace_id"),
        span_id=call.get("id"),
        parent_id=call.get("parent_id"),
        start=call.get("started_at"),
        end=call.get("ended_at"),
        error=as_text(call.get("exception")) or error,
        **fields,
    ).to_span()


def _operation(reference: str) -> str:
    """`search` of `weave:///team/project/op/search:3f2a`."""
    return reference.rpartition("/op/")[2].partition(":")[0] or reference


def _role(call: dict[str, Json], operation: str) -> SpanRole:
    settings = as_object(as_object(call.get("attributes")).get("weave"))
    kind = as_text(settings.get("kind"))
    if kind in _KINDS:
        return _KINDS[kind]
    if operation.startswith(_CLIENTS):
        return "model"
    return "chain" if call.get("parent_id") else "workflow"


def _counts(call: dict[str, Json]) -> tuple[str | None, Json]:
    """The model and its counts; the calls around a model call repeat them, added up."""
    usages = as_object(as_object(call.get("summary")).get("usage"))
    return next(iter(usages.items()), (None, None))
