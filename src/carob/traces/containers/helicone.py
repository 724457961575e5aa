"""Helicone: requests of its API, each one model call with its response."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Span
from carob.traces.containers.observation import Observation
from carob.traces.shape import as_object, as_text, decode_structure, first_value

_SESSION = "Helicone-Session-Id"


class Helicone:
    """A row with a `request_id`, a `request_body` and a `response_body`."""

    name = "helicone"

    def claims(self, item: Json) -> bool:
        return as_object(item).keys() >= {"request_id", "request_body", "response_body"}

    def read(self, item: Json, *, source: str) -> Iterator[Span]:
        row = as_object(item)
        request = as_object(decode_structure(row.get("request_body")))
        response = as_object(decode_structure(row.get("response_body")))
        counts: dict[str, Json] = {
            key: row[key] for key in ("prompt_tokens", "completion_tokens") if row.get(key)
        }
        status = row.get("response_status")
        failed = isinstance(status, int) and status >= 400
        properties = as_object(decode_structure(row.get("request_properties")))
        yield Observation(
            recorder="helicone",
            role="model",
            trace_id=row.get("request_id"),
            span_id=row.get("request_id"),
            name=as_text(row.get("request_path")),
            start=row.get("request_created_at"),
            end=row.get("response_created_at"),
            input=request or None,
            output=None if failed else response or None,
            model=as_text(first_value(response, "model") or first_value(request, "model")),
            usage=response.get("usage") or counts or None,
            conversation=as_text(properties.get(_SESSION)),
            error=f"status {status}" if failed else None,
        ).to_span()
