"""Phoenix: spans of its REST API and its clients, and rows of its dataframes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.attributes import flatten_nested
from carob.traces.containers.flat import span_of
from carob.traces.containers.python_console import has_context
from carob.traces.shape import as_object, as_text, decode_structure, first_value

_KIND = "openinference.span.kind"


class Phoenix:
    """A span with its ids in a `context` and its OpenInference kind in a separate field."""

    name = "phoenix"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return has_context(fields) and ("span_kind" in fields or "spanKind" in fields)

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        around = {
            key: value for key, value in fields.items() if key not in {"span_kind", "spanKind"}
        }
        span = span_of(around)
        yield _add_kind(
            span, flatten_nested(span.attributes), first_value(fields, "span_kind", "spanKind")
        )


class PhoenixFrame:
    """A row with the columns `context.span_id` and `attributes.*`."""

    name = "phoenix-dataframe"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return isinstance(fields.get("context.span_id"), str) and "context.trace_id" in fields

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        fields = as_object(item)
        columns: dict[str, Json] = {
            key.removeprefix("attributes."): value
            for key, value in fields.items()
            if key.startswith("attributes.")
        }
        span = span_of(
            {
                "trace_id": fields["context.trace_id"],
                "span_id": fields["context.span_id"],
                **{key: fields[key] for key in _COLUMNS if key in fields},
            }
        )
        whole = flatten_nested(columns | as_object(decode_structure(fields.get("attributes"))))
        yield _add_kind(span, whole, fields.get("span_kind"))


_COLUMNS = (
    "name",
    "parent_id",
    "start_time",
    "end_time",
    "status_code",
    "status_message",
    "events",
)


def _add_kind(span: Span, attributes: dict[str, Json], kind: Json) -> Span:
    name = as_text(kind)
    if name and name != "UNKNOWN":
        attributes.setdefault(_KIND, name)
    return msgspec.structs.replace(span, attributes=attributes)
