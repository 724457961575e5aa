"""The OpenAI Agents SDK's own traces.

A span carries the fields of its `span_data` as attributes: `openai_agents.type` (`agent`,
`function`, `generation`, `response`, `handoff`, `guardrail`, `custom`, …), `.name`, `.input`,
`.output`, `.model`, `.usage`, and any other field, such as `.response_id`, `.handoffs`,
`.tools`, `.from_agent`, `.to_agent`, `.data`; `.error` is the span's error object. The trace itself
is a root span of type `trace` with `openai_agents.workflow_name`, `.group_id` (the conversation)
and `.metadata`; its span id is the trace id, and spans without a parent are its children.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.normalize import instant
from carob.traces.shape import as_object, as_text, decode_structure, first_value

_OBJECTS = ("trace", "trace.span")


class OpenAIAgents:
    """An item whose `object` is a trace or a span of one."""

    name = "openai-agents"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return fields.get("object") in _OBJECTS or isinstance(fields.get("span_data"), dict)

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        if isinstance(fields.get("span_data"), dict) or fields.get("object") == "trace.span":
            yield _span(fields)
        else:
            yield _trace_span(fields)
            for inner in _inner_spans(fields):
                yield _span(inner)


def _inner_spans(fields: dict[str, Json]) -> list[dict[str, Json]]:
    spans = fields.get("spans")
    return [as_object(span) for span in spans] if isinstance(spans, list) else []


def _trace_span(item: dict[str, Json]) -> Span:
    trace_id = as_text(first_value(item, "id", "trace_id")) or ""
    fields = ("workflow_name", "group_id", "metadata")
    attributes: dict[str, Json] = {"openai_agents.type": "trace"}
    attributes |= {f"openai_agents.{key}": item[key] for key in fields if item.get(key) is not None}
    return Span(
        trace_id=trace_id,
        span_id=trace_id,
        name=as_text(item.get("workflow_name")) or "",
        start=instant(item.get("started_at")),
        end=instant(item.get("ended_at")),
        attributes=attributes,
    )


def _span(item: dict[str, Json]) -> Span:
    data = as_object(decode_structure(item.get("span_data")))
    error = decode_structure(item.get("error"))
    attributes: dict[str, Json] = {}
    attributes |= {
        f"openai_agents.{key}": value for key, value in data.items() if value is not None
    }
    if error is not None:
        attributes["openai_agents.error"] = error
    trace_id = as_text(item.get("trace_id")) or ""
    message = error if isinstance(error, str) else as_text(as_object(error).get("message"))
    return Span(
        trace_id=trace_id,
        span_id=as_text(first_value(item, "id", "span_id")) or "",
        parent_id=as_text(item.get("parent_id")) or trace_id or None,
        name=as_text(first_value(data, "name", "type")) or "",
        start=instant(item.get("started_at")),
        end=instant(item.get("ended_at")),
        attributes=attributes,
        status="unset" if error is None else "error",
        status_message=message,
        scope="openai-agents",
    )
