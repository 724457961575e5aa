"""What the spans of export requests say about their traces, for the index of sessions."""

from __future__ import annotations

from collections.abc import Iterable

from carob.schema import Json
from carob.store.inbox import TraceUpdate
from carob.traces.containers.container import RecordOutline

_SESSION_NAMES = ("carob.session.name", "agentevals.session_name")
_CONVERSATIONS = ("gen_ai.conversation.id",)
_SESSIONS = ("session.id", "langfuse.session.id")
_AGENTS = ("gen_ai.agent.name", "agent.name", "agent_name")
_NAMED, _CONVERSED, _IDENTIFIED = 3, 2, 1
"""How sure the session of a trace is: by its name, by the conversation, or by the session id."""
INDEXED = frozenset((*_CONVERSATIONS, *_SESSIONS, *_AGENTS))
"""The attributes of spans that the index needs."""


def update_traces(
    payloads: Iterable[tuple[int, Iterable[RecordOutline]]],
) -> dict[str, TraceUpdate]:
    """Return what the records of some payloads, each with its number, say about each trace."""
    traces: dict[str, _TraceFacts] = {}
    for number, records in payloads:
        for record in records:
            trace_id = record.trace_id
            if trace_id:
                facts = traces.get(trace_id)
                if facts is None:
                    facts = traces[trace_id] = _TraceFacts(trace_id)
                facts.payloads.add(number)
                facts.add(record)
    return {trace_id: facts.to_update() for trace_id, facts in traces.items()}


class _TraceFacts:
    """Collects what the records of a trace say about it."""

    def __init__(self, trace_id: str) -> None:
        self._session, self._rank = trace_id, 0
        self._started: int | None = None
        self._ended: int | None = None
        self._agent: str | None = None
        self._spans: set[str] = set()
        self.payloads: set[int] = set()

    def add(self, record: RecordOutline) -> None:
        """Add a record."""
        if record.span_id is None:
            return
        self._spans.add(record.span_id)
        start, resource = record.start, record.resource
        if start is not None and (self._started is None or start < self._started):
            self._started = start
        if record.root_end is not None:
            self._ended = max(self._ended or 0, record.root_end)
        # One span often says it all: the others are read only as far as they could add something.
        if self._rank < _NAMED:
            self._note_session(_SESSION_NAMES, resource, _NAMED)
        if self._agent is None or self._rank < _CONVERSED:
            attributes = record.read_attributes()
            self._note_session(_CONVERSATIONS, attributes, _CONVERSED)
            self._note_session(_SESSIONS, attributes, _IDENTIFIED)
            self._note_session(_SESSIONS, resource, _IDENTIFIED)
            self._agent = self._agent or _first_text(attributes, _AGENTS)

    def _note_session(self, names: Iterable[str], attributes: dict[str, Json], rank: int) -> None:
        if self._rank < rank and (session := _first_text(attributes, names)):
            self._session, self._rank = session, rank

    def to_update(self) -> TraceUpdate:
        """Return what the index stores."""
        return TraceUpdate(
            session=self._session,
            rank=self._rank,
            started=_microseconds(self._started),
            ended=_microseconds(self._ended),
            agent=self._agent,
            spans=frozenset(self._spans),
            payloads=frozenset(self.payloads),
        )


def _first_text(attributes: dict[str, Json], names: Iterable[str]) -> str | None:
    for name in names:
        value = attributes.get(name)
        if isinstance(value, str) and value:
            return value[:255].replace("\0", "\ufffd")
    return None


def _microseconds(nanoseconds: int | None) -> int | None:
    return None if nanoseconds is None else nanoseconds // 1000
