"""One span or log record per object, in whatever spelling: the shape that most exports share.

Read by folded keys, so that `traceId`, `trace_id` and `TraceId` are one. Beside flat exports this
takes rows of span stores (ClickHouse, Logfire), JavaScript's and ADK's debug output and MLflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest

from carob.schema import Json, Span, SpanEvent
from carob.traces.containers.attributes import attributes, plain
from carob.traces.containers.attributes import resource as resource_of
from carob.traces.containers.container import LogRecord
from carob.traces.containers.jaeger import is_jaeger_span
from carob.traces.containers.otlp import event_name
from carob.traces.normalize import (
    identity,
    instant,
    kind,
    nanoseconds,
    period,
    status,
    status_message,
)
from carob.traces.shape import (
    decode_structure,
    first,
    fold_key,
    fold_keys,
    rows,
    table,
    tables,
    text,
)

_OTHERS = frozenset({"childspans", "rawoteljson"})
_CONTEXTS = ("context", "spancontext")
_PARENT_IDS = ("parentspanid", "parentid")
_PARENTS = ("parent", "parentspancontext", "parentcontext")
_ATTRIBUTES = ("attributes", "spanattributes", "tags", "labels")
_SPELLED_OUT = ("span.attributes.", "attributes.")
"""How a store begins the names of fields that are attributes."""
_OF_LOGS = frozenset(("body", "severitynumber", "severitytext", "eventname"))
_SCOPES = ("scope", "instrumentationscope", "instrumentationlibrary", "instrumentationinfo")
_RESOURCES = ("resource", "resourceattributes", "otelresourceattributes")
_STARTS = (
    "starttimeunixnano",
    "starttime",
    "starttimestamp",
    "startedat",
    "timestamp",
    "@timestamp",
)
_ENDS = ("endtimeunixnano", "endtime", "endtimestamp", "endedat")
_STATUSES = ("statuscode", "otelstatuscode", "status")
_MESSAGES = ("statusmessage", "otelstatusmessage", "statusdescription")


class Flat:
    """An object with the ids of a trace and a span at its top, or a trace of such spans."""

    name = "flat"

    def claims(self, item: Json) -> bool:
        if not isinstance(item, dict) or "run_type" in item or "span_data" in item:
            return False
        if is_jaeger_span(item):
            return False
        held = fold_keys(item)
        if not _OTHERS.isdisjoint(held) or has_nested_attributes(item):
            return False
        if "traceid" not in held:
            return False
        return "spanid" in held or _is_javascript(held) or _holds_spans(held)

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        held = table(item)
        if _holds_spans(fold_keys(held)):
            trace_id = fold_keys(held).get("traceid")
            for inner in tables(held.get("spans")):
                yield span_of(inner | {"trace_id": trace_id})
        else:
            yield log_of(held) if is_log(held) else span_of(held)


def _holds_spans(held: dict[str, Json]) -> bool:
    """A trace that says its id once, for all its spans."""
    spans = tables(held.get("spans"))
    inner = fold_keys(spans[0]) if spans else {}
    return "spanid" in inner and "traceid" not in inner and _OTHERS.isdisjoint(inner)


def has_nested_attributes(item: dict[str, Json]) -> bool:
    """Do the `span_attributes` hold objects, where dotted names have been taken apart?"""
    held = table(decode_structure(item.get("span_attributes")))
    return "child_spans" not in item and any(isinstance(value, dict) for value in held.values())


def _is_javascript(held: dict[str, Json]) -> bool:
    return "id" in held and isinstance(held.get("attributes"), dict) and "timestamp" in held


def is_log(item: dict[str, Json]) -> bool:
    """Is this a log record rather than a span? A span has a start, a log has a body or a severity,
    even if they are null, as they are in an event that is all attributes."""
    if _OF_LOGS.isdisjoint(fold_key(key) for key in item):
        return False
    return first(fold_keys(item), *_STARTS[:4]) is None


def span_of(
    item: dict[str, Json],
    *,
    scope: str = "",
    scope_version: str = "",
    resource: dict[str, Json] | None = None,
) -> Span:
    """The span that an object describes; what the object does not say comes from around it."""
    held = fold_keys(item)
    context = fold_keys(table(first(held, *_CONTEXTS)))
    start, end = _times(held)
    name, version = _scope(held)
    return Span(
        trace_id=identity(_or(held.get("traceid"), context.get("traceid"))),
        span_id=identity(_or(held.get("spanid"), context.get("spanid"), held.get("id"))),
        parent_id=_parent(held) or None,
        name=text(first(held, "name", "spanname", "operationname")) or "",
        kind=kind(first(held, "kind", "spankind")),
        start=start,
        end=end,
        attributes=_attributes(item, held),
        events=events_of(first(held, "events", "spanevents", "otelevents")) or _columns(held),
        status=status(first(held, *_STATUSES)),
        status_message=_message(held),
        scope=name or scope,
        scope_version=version or scope_version,
        resource=_resource(held) if resource is None else resource,
    )


def _or(*values: Json) -> Json:
    return next((value for value in values if value not in (None, "")), None)


def _parent(held: dict[str, Json]) -> str:
    direct = identity(first(held, *_PARENT_IDS))
    around = first(held, *_PARENTS)
    if direct or around is None:
        return direct
    if not isinstance(around, dict):
        return identity(around)
    inner = fold_keys(around)
    return identity(_or(inner.get("spanid"), fold_keys(table(inner.get("context"))).get("spanid")))


def _times(held: dict[str, Json]) -> tuple[int | None, int | None]:
    start = _time(held, _STARTS)
    end = _time(held, _ENDS)
    if end is None and start is not None:
        length = _length(held)
        end = None if length is None else start + length
    return start, end


def _time(held: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    exact = nanoseconds(held.get(keys[0]))
    return instant(first(held, *keys[1:])) if exact is None else exact


def _length(held: dict[str, Json]) -> int | None:
    """A duration in the unit that its owner writes: ISO-8601, ns by name, JavaScript's µs."""
    named = nanoseconds(first(held, "durationnano", "durationns", "durationinnanos"))
    if named is not None:
        return named
    length = held.get("duration")
    if isinstance(length, list):
        return instant(length)
    if isinstance(length, str):
        return period(length)
    if isinstance(length, int | float) and not isinstance(length, bool) and 0 <= length < 1 << 62:
        return int(length * _unit(held))
    return None


def _unit(held: dict[str, Json]) -> int:
    if "spanname" in held and "starttimestamp" in held:  # Logfire: seconds
        return 10**9
    return 1 if "spanname" in held or "@timestamp" in held else 10**3  # ClickHouse, Elastic: ns


def _scope(held: dict[str, Json]) -> tuple[str, str]:
    around = first(held, *_SCOPES)
    if isinstance(around, str):
        return around, ""
    scope = fold_keys(table(around))
    name = _or(scope.get("name"), first(held, "scopename", "otelscopename"))
    version = _or(scope.get("version"), first(held, "scopeversion", "otelscopeversion"))
    return text(name) or "", text(version) or ""


def _attributes(item: dict[str, Json], held: dict[str, Json]) -> dict[str, Json]:
    found = next((held[key] for key in _ATTRIBUTES if held.get(key)), None)
    if found is not None:
        return attributes(found)
    spelled = {_spelled(key): value for key, value in item.items() if key.startswith(_SPELLED_OUT)}
    return spelled or {key: value for key, value in item.items() if "." in key}  # ADK's debug


def _spelled(key: str) -> str:
    """A dotted name; OpenSearch has none, and writes `gen_ai@operation@name`."""
    return key.partition("attributes.")[2].replace("@", ".")


def _resource(held: dict[str, Json]) -> dict[str, Json]:
    found = resource_of(first(held, *_RESOURCES))
    service = held.get("servicename")
    if isinstance(service, str) and service:
        found.setdefault("service.name", service)
    return found


def _message(held: dict[str, Json]) -> str | None:
    found = first(held, *_MESSAGES)
    if isinstance(found, str) and found:
        return found
    return status_message(held.get("status"))


def events_of(value: Json) -> tuple[SpanEvent, ...]:
    """The events of a span."""
    return tuple(_event(fold_keys(item)) for item in tables(decode_structure(value)))


def _columns(held: dict[str, Json]) -> tuple[SpanEvent, ...]:
    """The events where a store keeps a list for each of their fields."""
    lists = [
        rows(decode_structure(first(held, f"events.{field}", f"event{field}", f"event{field}s")))
        for field in ("name", "timestamp", "attributes")
    ]
    return tuple(
        _event({"name": name, "timestamp": time, "attributes": inner})
        for name, time, inner in zip_longest(*lists)
    )


def _event(held: dict[str, Json]) -> SpanEvent:
    return SpanEvent(
        name=text(first(held, "name", "eventname")) or "",
        time=_time(held, ("timeunixnano", "time", "timestamp", "eventtimestamp")),
        attributes=attributes(first(held, "attributes", "eventattributes")),
        body=plain(held.get("body")),
    )


def log_of(item: dict[str, Json]) -> LogRecord:
    """The log record that an object describes."""
    held = fold_keys(item)
    named = attributes(first(held, "attributes", "logattributes"))
    event = SpanEvent(
        name=event_name(held.get("eventname"), named),
        time=_time(held, ("timeunixnano", "timestamp"))
        or _time(held, ("observedtimeunixnano", "observedtimestamp")),
        attributes=named,
        body=plain(held.get("body")),
    )
    return LogRecord(identity(held.get("traceid")), identity(held.get("spanid")), event)
