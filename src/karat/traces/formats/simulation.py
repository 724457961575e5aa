"""Rows of the simulation table: the spans in `session_trace`, else the session itself.

The golden case of a row is put into the resource of its spans as `karat.case`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from karat.schema import Json, Span, Trace
from karat.traces.adk_events import session_of
from karat.traces.formats.container import LogRecord
from karat.traces.formats.flat import Flat, span_of
from karat.traces.shape import first, parsed, table, tables, text

_SESSIONS = ("final_session_state", "session_state", "session_details")


class Simulation:
    """A row with the column `session_trace`."""

    name = "simulation"

    def claims(self, item: Json) -> bool:
        return "session_trace" in table(item)

    def read(self, item: Json, *, source: str) -> Iterator[Span | LogRecord | Trace]:
        held = table(item)
        case = text(first(held, "eval_id", "question_id", "id"))
        spans = [span for span in tables(parsed(held["session_trace"])) if Flat().claims(span)]
        for span in map(span_of, spans):
            around = span.resource | {"karat.case": case} if case else span.resource
            yield msgspec.structs.replace(span, resource=around)
        session = parsed(first(held, *_SESSIONS))
        if not spans and table(session).get("events"):
            yield session_of(session, source=source, case=case)
