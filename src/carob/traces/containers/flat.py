"""One span or log record per object, in any spelling: the layout that most exports share.

Read by folded keys, so that `traceId`, `trace_id` and `TraceId` are the same. Besides flat exports
this reads rows of span stores (ClickHouse, Logfire), the debug output of JavaScript and ADK, and
MLflow.
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
    DROPPED,
    identity,
    instant,
    kind,
    nanoseconds,
    period,
    status,
    status_message,
)
from carob.traces.shape import (
    as_array,
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_key,
    fold_keys,
    objects_in,
)

_FOREIGN_KEYS = frozenset({"childspans", "rawoteljson"})
_CONTEXTS = ("context", "spancontext")
_PARENT_IDS = ("parentspanid", "parentid")
_PARENTS = ("parent", "parentspancontext", "parentcontext")
_ATTRIBUTES = ("attributes", "spanattributes", "tags", "labels")
_ATTRIBUTE_PREFIXES = ("span.attributes.", "attributes.")
"""Prefixes by which a store marks the columns that are attributes."""
_LOG_KEYS = frozenset(("body", "severitynumber", "severitytext", "eventname"))
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
        # Jaeger's spans have both ids as well, but count time in microseconds under other keys.
        if is_jaeger_span(item):
            return False
        fields = fold_keys(item)
        if not _FOREIGN_KEYS.isdisjoint(fields) or has_nested_attributes(item):
            return False
        if "traceid" not in fields:
            return False
        return "spanid" in fields or _is_javascript(fields) or _holds_spans(fields)

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord]:
        fields = as_object(item)
        if _holds_spans(fold_keys(fields)):
            trace_id = fold_keys(fields).get("traceid")
            for inner in objects_in(fields.get("spans")):
                yield span_of(inner | {"trace_id": trace_id})
        else:
            yield log_of(fields) if is_log(fields) else span_of(fields)


def _holds_spans(fields: dict[str, Json]) -> bool:
    """Whether this is a trace that states its id once, for all its spans."""
    spans = objects_in(fields.get("spans"))
    inner = fold_keys(spans[0]) if spans else {}
    return "spanid" in inner and "traceid" not in inner and _FOREIGN_KEYS.isdisjoint(inner)


def has_nested_attributes(item: dict[str, Json]) -> bool:
    """Whether `span_attributes` are nested objects instead of dotted names."""
    fields = as_object(decode_structure(item.get("span_attributes")))
    return "child_spans" not in item and any(isinstance(value, dict) for value in fields.values())


def _is_javascript(fields: dict[str, Json]) -> bool:
    return "id" in fields and isinstance(fields.get("attributes"), dict) and "timestamp" in fields


def is_log(item: dict[str, Json]) -> bool:
    """Whether this is a log record and not a span.

    A span has a start. A log record has a body or a severity, even if they are null, as in an
    event that consists of attributes only.
    """
    if _LOG_KEYS.isdisjoint(fold_key(key) for key in item):
        return False
    return first_value(fold_keys(item), *_STARTS[:4]) is None


def span_of(
    item: dict[str, Json],
    *,
    scope: str = "",
    scope_version: str = "",
    resource: dict[str, Json] | None = None,
) -> Span:
    """The span that an object describes; scope and resource may come from around it."""
    fields = fold_keys(item)
    context = fold_keys(as_object(first_value(fields, *_CONTEXTS)))
    start, end = _times(fields)
    name, version = _scope(fields)
    return Span(
        trace_id=identity(_first_filled(fields.get("traceid"), context.get("traceid"))),
        span_id=identity(
            _first_filled(fields.get("spanid"), context.get("spanid"), fields.get("id"))
        ),
        parent_id=_parent(fields) or None,
        name=as_text(first_value(fields, "name", "spanname", "operationname")) or "",
        kind=kind(first_value(fields, "kind", "spankind")),
        start=start,
        end=end,
        attributes=_mark_dropped(_attributes(item, fields), fields),
        events=events_of(first_value(fields, "events", "spanevents", "otelevents", "logs"))
        or _events_by_column(fields),
        status=status(first_value(fields, *_STATUSES)),
        status_message=_message(fields),
        scope=name or scope,
        scope_version=version or scope_version,
        resource=_resource(fields) if resource is None else resource,
    )


def _first_filled(*values: Json) -> Json:
    return next((value for value in values if value not in (None, "")), None)


def _parent(fields: dict[str, Json]) -> str:
    direct = identity(first_value(fields, *_PARENT_IDS))
    parent = first_value(fields, *_PARENTS)
    if direct or parent is None:
        return direct
    if not isinstance(parent, dict):
        return identity(parent)
    inner = fold_keys(parent)
    return identity(
        _first_filled(inner.get("spanid"), fold_keys(as_object(inner.get("context"))).get("spanid"))
    )


def _times(fields: dict[str, Json]) -> tuple[int | None, int | None]:
    start = _time(fields, _STARTS)
    end = _time(fields, _ENDS)
    if end is None and start is not None:
        duration = _duration(fields)
        end = None if duration is None else start + duration
    return start, end


def _time(fields: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    exact = nanoseconds(fields.get(keys[0]))
    return instant(first_value(fields, *keys[1:])) if exact is None else exact


def _duration(fields: dict[str, Json]) -> int | None:
    """The duration in nanoseconds. The unit depends on the key and on who wrote it."""
    exact = nanoseconds(first_value(fields, "durationnano", "durationns", "durationinnanos"))
    if exact is not None:
        return exact
    value = fields.get("duration")
    if isinstance(value, list):
        return instant(value)
    if isinstance(value, str):
        return period(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 62:
        return int(value * _duration_unit(fields))
    return None


def _duration_unit(fields: dict[str, Json]) -> int:
    # The number alone does not show its unit: 1500 may be 1.5 s, 1.5 ms or 1.5 µs. The columns
    # beside it show which store wrote it.
    if "spanname" in fields and "starttimestamp" in fields:  # Logfire: seconds
        return 10**9
    if "spanname" in fields or "@timestamp" in fields:  # ClickHouse, Elastic: nanoseconds
        return 1
    return 10**3  # JavaScript: microseconds


def _scope(fields: dict[str, Json]) -> tuple[str, str]:
    value = first_value(fields, *_SCOPES)
    if isinstance(value, str):
        return value, ""
    scope = fold_keys(as_object(value))
    name = _first_filled(scope.get("name"), first_value(fields, "scopename", "otelscopename"))
    version = _first_filled(
        scope.get("version"), first_value(fields, "scopeversion", "otelscopeversion")
    )
    return as_text(name) or "", as_text(version) or ""


def _mark_dropped(span_attributes: dict[str, Json], fields: dict[str, Json]) -> dict[str, Json]:
    dropped = as_count(first_value(fields, "droppedattributescount"))
    return {**span_attributes, DROPPED: dropped} if dropped else span_attributes


def _attributes(item: dict[str, Json], fields: dict[str, Json]) -> dict[str, Json]:
    value = next((fields[key] for key in _ATTRIBUTES if fields.get(key)), None)
    if value is not None:
        return attributes(value)
    prefixed = {
        _strip_prefix(key): value
        for key, value in item.items()
        if key.startswith(_ATTRIBUTE_PREFIXES)
    }
    return prefixed or {key: value for key, value in item.items() if "." in key}  # ADK's debug


def _strip_prefix(key: str) -> str:
    """A dotted name; OpenSearch allows no dots and writes `gen_ai@operation@name`."""
    return key.partition("attributes.")[2].replace("@", ".")


def _resource(fields: dict[str, Json]) -> dict[str, Json]:
    resource = resource_of(first_value(fields, *_RESOURCES))
    service = fields.get("servicename")
    if isinstance(service, str) and service:
        resource.setdefault("service.name", service)
    return resource


def _message(fields: dict[str, Json]) -> str | None:
    message = first_value(fields, *_MESSAGES)
    if isinstance(message, str) and message:
        return message
    return status_message(fields.get("status"))


def events_of(value: Json) -> tuple[SpanEvent, ...]:
    """The events of a span."""
    return tuple(_event(fold_keys(item)) for item in objects_in(decode_structure(value)))


def _events_by_column(fields: dict[str, Json]) -> tuple[SpanEvent, ...]:
    """The events of a store that has one list for each of their fields."""
    lists = [
        as_array(
            decode_structure(
                first_value(fields, f"events.{field}", f"event{field}", f"event{field}s")
            )
        )
        for field in ("name", "timestamp", "attributes")
    ]
    return tuple(
        _event({"name": name, "timestamp": time, "attributes": inner})
        for name, time, inner in zip_longest(*lists)
    )


def _event(fields: dict[str, Json]) -> SpanEvent:
    return SpanEvent(
        name=as_text(first_value(fields, "name", "eventname")) or "",
        time=_time(fields, ("timeunixnano", "time", "timestamp", "eventtimestamp")),
        attributes=attributes(first_value(fields, "attributes", "eventattributes")),
        body=plain(fields.get("body")),
    )


def log_of(item: dict[str, Json]) -> LogRecord:
    """The log record that an object describes."""
    fields = fold_keys(item)
    log_attributes = attributes(first_value(fields, "attributes", "logattributes"))
    event = SpanEvent(
        name=event_name(fields.get("eventname"), log_attributes),
        time=_time(fields, ("timeunixnano", "timestamp"))
        or _time(fields, ("observedtimeunixnano", "observedtimestamp")),
        attributes=log_attributes,
        body=plain(fields.get("body")),
    )
    return LogRecord(identity(fields.get("traceid")), identity(fields.get("spanid")), event)
