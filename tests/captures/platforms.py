"""What the servers of Opik and Weave store of what their SDKs send, as their exports show it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]

WEAVE_SERVER = {"min_required_weave_python_version": "0.0.1", "trace_server_version": "99.0.0"}
WEAVE_PROJECT = {"data": {"project": {"name": "captures"}, "viewer": {"username": "user_1"}}}
WEAVE_OBJECT = {"digest": "aB3xY9", "object_id": "object"}
"""What Weave's server answers: about itself and a project, and to code that the SDK sends."""


class OpikStore:
    """Traces and spans, which the SDK creates and completes later."""

    def __init__(self) -> None:
        self._traces: dict[str, Record] = {}
        self._spans: dict[str, Record] = {}

    def save(self, path: str, body: Record) -> bool:
        """Save what was sent to a path; `False` if it is no path of traces or spans."""
        for name, records in (("traces", self._traces), ("spans", self._spans)):
            _, found, rest = path.partition(f"/v1/private/{name}")
            if found:
                sent = body[name] if rest == "/batch" else [{"id": rest[1:], **body}]
                for record in sent:
                    known = {key: value for key, value in record.items() if value is not None}
                    records.setdefault(record["id"], {}).update(known)
                return True
        return False

    def export(self) -> Iterator[Record]:
        """Yield each trace with its spans, as `opik export` writes them."""
        for trace_id, trace in self._traces.items():
            spans = [s for s in self._spans.values() if s["trace_id"] == trace_id]
            yield {"trace": {**trace, "project_id": "1"}, "spans": spans}


class WeaveStore:
    """Calls, which the SDK sends when they have ended."""

    def __init__(self) -> None:
        self._calls: list[Record] = []

    def save(self, path: str, body: Record) -> bool:
        """Save what was sent to a path; `False` if it is no path of calls."""
        if not path.endswith("/calls/complete"):
            return False
        self._calls += body["batch"]
        return True

    def export(self) -> Iterator[Record]:
        """Yield the calls, as the API returns them."""
        yield from self._calls
