"""Phoenix: spans of its REST API and its clients, and rows of its dataframes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Span
from carob.traces.containers.attributes import unnested
from carob.traces.containers.flat import span_of
from carob.traces.containers.python_console import has_context
from carob.traces.shape import decode_structure, first, table, text

_KIND = "openinference.span.kind"


class Phoenix:
    """A span with its ids in a `context` and its OpenInference kind in a field of its own."""

    name = "phoenix"

    def claims(self, item: Json) -> bool:
        held = table(item)
        return has_context(held) and ("span_kind" in held or "spanKind" in held)

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        held = table(item)
        around = {key: value for key, value in held.items() if key not in {"span_kind", "spanKind"}}
        span = span_of(around)
        yield _kinded(span, unnested(span.attributes), first(held, "span_kind", "spanKind"))


class PhoenixFrame:
    """A row with the columns `context.span_id` and `attributes.*`."""

    name = "phoenix-dataframe"

    def claims(self, item: Json) -> bool:
        held = table(item)
        return isinstance(held.get("context.span_id"), str) and "context.trace_id" in held

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        held = table(item)
        columns: dict[str, Json] = {
            key.removeprefix("attributes."): value
            for key, value in held.items()
            if key.startswith("attributes.")
        }
        span = span_of(
            {
                "trace_id": held["context.trace_id"],
                "span_id": held["context.span_id"],
                **{key: held[key] for key in _COLUMNS if key in held},
            }
        )
        whole = unnested(columns | table(decode_structure(held.get("attributes"))))
        yield _kinded(span, whole, held.get("span_kind"))


_COLUMNS = (
    "name",
    "parent_id",
    "start_time",
    "end_time",
    "status_code",
    "status_message",
    "events",
)


def _kinded(span: Span, attributes: dict[str, Json], kind: Json) -> Span:
    named = text(kind)
    if named and named != "UNKNOWN":
        attributes.setdefault(_KIND, named)
    return msgspec.structs.replace(span, attributes=attributes)
