"""The trace of a session: built from its spans when it is first needed, and then cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import lru_cache

import msgspec

from carob.api.serving.ingest import read_payload
from carob.errors import FormatError, OutputError
from carob.files.collector import collector_paused
from carob.schema import Problem, Span, Trace
from carob.schema.base import prepare_type
from carob.store import Database
from carob.store.inbox import (
    Payload,
    SessionRow,
    TraceSummary,
    cache_traces,
    cached_trace,
    session_payloads,
)
from carob.traces.containers.container import LogRecord
from carob.traces.mapping.sessions import merge_sessions
from carob.traces.reading.assemble import assemble

_SHOWN = 200
_SMALL = 64 << 10
"""Bytes of compressed payloads that are remembered; decoded they take many times as much."""
_trace_decoder = msgspec.json.Decoder(prepare_type(Trace))


def session_trace(database: Database, row: SessionRow, problems: list[Problem]) -> Trace | None:
    """Return the trace of a session, or `None` if no agent was at work in its spans."""
    cached = cached_trace(database, row.id)
    if cached is not None:
        return _trace_decoder.decode(cached)
    trace = _build_trace(database, row, problems)
    # A trace with problems is built again, so that they are reported again.
    encoded = msgspec.json.encode(trace) if trace and not problems else None
    _cache(database, [(row, encoded, _summarise(trace))])
    return trace


def read_summaries(database: Database, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Build the traces of sessions and return their rows with the summaries. Only these are cached:
    a list needs no more, and compressing a trace takes a third of the time. Sessions that cannot be
    read are left out: opening one says why, and the others can still be listed."""
    read: list[tuple[SessionRow, None, TraceSummary]] = []
    with collector_paused():
        for row in rows:
            with suppress(FormatError):  # damaged on disk
                read.append((row, None, _summarise(_build_trace(database, row, []))))
    if read:
        _cache(database, read)
    return [row._replace(**summary._asdict()) for row, _, summary in read]


def _cache(
    database: Database, read: Sequence[tuple[SessionRow, bytes | None, TraceSummary]]
) -> None:
    # A full disk must not keep anybody from finding the sessions that can be removed.
    with suppress(OutputError):
        cache_traces(database, read)


def _build_trace(database: Database, row: SessionRow, problems: list[Problem]) -> Trace | None:
    from carob.traces.mapping.traces import to_traces  # late: a waiting server needs none of it

    where = f"session {row.id}"
    spans = session_spans(database, row.id, problems)
    traces = [trace for group in spans.values() for trace in to_traces(group, source=where)]
    merged = list(merge_sessions(_in_one_conversation(traces, row.id)))
    return merged[0] if merged else None


def session_spans(
    database: Database, session: str, problems: list[Problem]
) -> Mapping[str, Sequence[Span]]:
    """Return the spans of a session by trace, with the log records that belong to them."""
    records = [
        record
        for traces, payload in session_payloads(database, session)
        for record in _read_records(payload)
        if record.trace_id in traces
    ]
    return assemble(records, source=f"session {session}", report=problems.append)


def _read_records(payload: Payload) -> Sequence[Span | LogRecord]:
    return _read_again(payload) if len(payload.body) < _SMALL else read_payload(payload).records


@lru_cache(maxsize=4)
def _read_again(payload: Payload) -> Sequence[Span | LogRecord]:
    """Read a payload once for all sessions in it, which are often read one after the other."""
    return read_payload(payload).records


def _summarise(trace: Trace | None) -> TraceSummary:
    turns = trace.turns if trace else ()
    message = next((turn.user for turn in turns if turn.user), None)
    shown = None if message is None else message[:_SHOWN].replace("\0", "\ufffd")
    return TraceSummary(shown, len(turns), sum(len(turn.tool_calls or ()) for turn in turns))


def _in_one_conversation(traces: list[Trace], session: str) -> list[Trace]:
    """The traces of a session belong together, also those that do not say so."""
    return [msgspec.structs.replace(trace, conversation=session) for trace in traces]
