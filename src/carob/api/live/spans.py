"""Where the spans of a live agent arrive: in this process, or in the inbox of the store."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from carob.api.serving.ingest import read_payload
from carob.errors import CarobError, UsageError
from carob.schema import Span
from carob.store import exists
from carob.store.inbox import Payload, inbox_url, open_inbox, trace_payloads
from carob.targets.spans import ProcessSpans, SpanJoiner, SpanSource
from carob.traces.containers.container import LogRecord


def open_joiner(wait: float | None, store: str | None) -> SpanJoiner | None:
    """Return what joins spans; `None` if nobody asked for it. Raises `UsageError` if spans can
    arrive nowhere."""
    if wait is None:
        return None
    process = ProcessSpans.install()
    sources: list[SpanSource] = [process] if process else []
    if store is not None:
        sources.append(InboxSpans(store))
    if not sources:
        hint = "install opentelemetry-sdk, or save the run in the store of `carob serve`"
        raise UsageError("spans can arrive nowhere", where="--span-wait", hint=hint)
    return SpanJoiner(sources, wait)


class InboxSpans:
    """Spans that the receivers of `carob serve` write to the inbox of a store."""

    def __init__(self, store: str) -> None:
        self._store = store

    def find(self, trace_ids: Sequence[str]) -> Sequence[Span | LogRecord]:
        """Return the records of these traces that are indexed."""
        if not exists(inbox_url(self._store)):
            return ()
        wanted = frozenset(trace_ids)
        try:
            with open_inbox(self._store) as database:
                payloads = list(trace_payloads(database, trace_ids))
        except CarobError:  # the server writes it at this moment; it is asked again
            return ()
        return [
            record for payload in payloads for record in _read(payload) if record.trace_id in wanted
        ]


@lru_cache(maxsize=64)
def _read(payload: Payload) -> Sequence[Span | LogRecord]:
    """Read a payload once: it may hold spans of many conversations."""
    return read_payload(payload).records
