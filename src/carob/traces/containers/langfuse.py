"""Langfuse: observations of its UI export, its API and its ingestion.

Where a trace came through OpenTelemetry, its original attributes are in `metadata` and are returned
unchanged. The fields of Langfuse are added under the names of its own SDK:
`langfuse.observation.type|input|output|model.name|usage_details`, the agent that LangChain names
under `langfuse.observation.metadata.lc_agent_name`, and on the observations without a parent
`langfuse.trace.name|input|output` and `langfuse.session.id`.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.attributes import attributes, plain
from carob.traces.containers.attributes import resource as resource_of
from carob.traces.normalize import Status, identity, instant
from carob.traces.shape import (
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_keys,
    objects_in,
)

_TYPES = frozenset(
    {
        "SPAN",
        "GENERATION",
        "EVENT",
        "AGENT",
        "TOOL",
        "CHAIN",
        "RETRIEVER",
        "EVALUATOR",
        "EMBEDDING",
        "GUARDRAIL",
    }
)
_WRAPPED = ('{"intValue"', '{"doubleValue"', '{"boolValue"', '{"arrayValue"')
_TRACE_FIELDS = {
    "name": "langfuse.trace.name",
    "input": "langfuse.trace.input",
    "output": "langfuse.trace.output",
    "sessionid": "langfuse.session.id",
    "userid": "langfuse.user.id",
}
_USAGE = {
    "input": ("input", "prompttokens", "inputtokens", "inputusage"),
    "output": ("output", "completiontokens", "outputtokens", "outputusage"),
    "total": ("total", "totaltokens", "totalusage"),
}


class Langfuse:
    """A trace with `observations`, or one observation."""

    name = "langfuse"

    def claims(self, item: Json) -> bool:
        fields = fold_keys(as_object(item))
        if _is_observation(fields) or _changes(fields):
            return True
        observations = fields.get("observations")
        return isinstance(observations, list) and all(
            isinstance(inner, str) or _is_observation(fold_keys(as_object(inner)), within=True)
            for inner in observations
        )

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = fold_keys(as_object(item))
        if _is_observation(fields):
            yield _span(fields, {})
            return
        if changes := _changes(fields):
            yield from _apply_changes(changes)
            return
        trace = fold_keys(as_object(decode_structure(fields.get("trace")))) or fields
        observations = objects_in(fields.get("observations"))
        for inner in observations:
            yield _span(fold_keys(inner), trace)
        if not observations:
            yield _trace_span(trace)


def _is_observation(item: dict[str, Json], *, within: bool = False) -> bool:
    kind = (as_text(item.get("type")) or "").upper()
    if "id" not in item or ("starttime" not in item and not (within and kind in _TYPES)):
        return False
    ours = kind in _TYPES or "parentobservationid" in item
    return within or (ours and "traceid" in item and "spanid" not in item)


def _changes(fields: dict[str, Json]) -> list[tuple[str, dict[str, Json]]]:
    """The objects that an ingestion request creates or updates, each with its kind."""
    changes: list[tuple[str, dict[str, Json]]] = []
    for event in objects_in(fields.get("batch")):
        kind, _, change = (as_text(event.get("type")) or "").rpartition("-")
        body = fold_keys(as_object(event.get("body")))
        if change in {"create", "update"} and "id" in body:
            changes.append((kind, body))
    return changes


def _apply_changes(changes: list[tuple[str, dict[str, Json]]]) -> Iterator[Span]:
    """Each observation once, as its last update left it."""
    traces: dict[Json, dict[str, Json]] = {}
    observations: dict[Json, dict[str, Json]] = {}
    for kind, body in changes:
        if kind == "trace":
            traces.setdefault(as_text(body["id"]), {}).update(body)
        elif kind != "score":
            fields = observations.setdefault(as_text(body["id"]), {"type": kind.upper()})
            fields.update(body)
    for fields in observations.values():
        yield _span(fields, traces.get(as_text(fields.get("traceid")), {}))
    with_observations = {as_text(fields.get("traceid")) for fields in observations.values()}
    for key, trace in traces.items():
        if key not in with_observations:
            yield _trace_span(trace)


def _trace_span(trace: dict[str, Json]) -> Span:
    """The span of a trace that was exported without observations."""
    trace_id = identity(trace.get("id"))
    return Span(
        trace_id=trace_id,
        span_id=trace_id,
        name=as_text(trace.get("name")) or "",
        start=instant(trace.get("timestamp")),
        attributes=_trace_attributes(trace),
    )


def _span(item: dict[str, Json], trace: dict[str, Json]) -> Span:
    metadata = as_object(decode_structure(item.get("metadata")))
    scope = as_object(decode_structure(metadata.get("scope")))
    parent = identity(item.get("parentobservationid"))
    trace_id = identity(first_value(item, "traceid") or trace.get("id"))
    own = _observation_attributes(item, metadata)
    return Span(
        trace_id=trace_id,
        span_id=identity(item.get("id")),
        parent_id=parent if parent and parent != trace_id else None,
        name=as_text(item.get("name")) or "",
        start=instant(item.get("starttime")),
        end=instant(item.get("endtime")),
        attributes=own if parent else _trace_attributes(trace) | own,
        status=_status(item),
        status_message=as_text(item.get("statusmessage")) or None,
        scope=as_text(scope.get("name")) or "",
        scope_version=as_text(scope.get("version")) or "",
        resource=resource_of(metadata.get("resourceAttributes")),
    )


def _status(item: dict[str, Json]) -> Status:
    return "error" if item.get("level") == "ERROR" else "unset"


def _observation_attributes(item: dict[str, Json], metadata: dict[str, Json]) -> dict[str, Json]:
    original = {
        key: _unwrap_number(value) for key, value in attributes(metadata.get("attributes")).items()
    }
    if not original:
        original = {key: value for key, value in metadata.items() if "." in key}
    kind = as_text(item.get("type"))
    model = first_value(item, "model", "providedmodelname", "internalmodelid")
    own = {
        "langfuse.observation.type": kind.lower() if kind else None,
        "langfuse.observation.input": item.get("input"),
        "langfuse.observation.output": item.get("output"),
        "langfuse.observation.model.name": model,
        "langfuse.observation.usage_details": _usage(item),
        "langfuse.observation.metadata.lc_agent_name": metadata.get("lc_agent_name"),
    }
    return {key: value for key, value in own.items() if value is not None} | original


def _unwrap_number(value: Json) -> Json:
    """A number that Langfuse stores as the text of its OTLP wrapper."""
    return (
        plain(decode_structure(value))
        if isinstance(value, str) and value.startswith(_WRAPPED)
        else value
    )


def _usage(item: dict[str, Json]) -> Json:
    details = decode_structure(first_value(item, "usagedetails", "providedusagedetails"))
    if isinstance(details, dict) and details:
        return details
    fields = item | fold_keys(as_object(decode_structure(item.get("usage"))))
    # `input` and `output` of the observation itself are its content, not token counts.
    counts = {name: as_count(_number(fields, keys)) for name, keys in _USAGE.items()}
    usage: dict[str, Json] = {name: number for name, number in counts.items() if number}
    return usage or None


def _number(fields: dict[str, Json], keys: tuple[str, ...]) -> Json:
    return next((fields[key] for key in keys if isinstance(fields.get(key), int | float)), None)


def _trace_attributes(trace: dict[str, Json]) -> dict[str, Json]:
    return {name: trace[key] for key, name in _TRACE_FIELDS.items() if trace.get(key) is not None}
