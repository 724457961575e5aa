"""Sessions of live agents: list, open, turn into golden cases, score, discard."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.golden.folder import GoldenFolder, file_for_cases
from carob.api.load import PathName, load_golden, writable_path
from carob.api.run_request import Listeners, RunRequest
from carob.api.runs import evaluate
from carob.api.serving.session_traces import read_summaries, session_spans, session_trace
from carob.api.traces import add_cases, metric_needs
from carob.config import Config
from carob.errors import RefusedError, UsageError
from carob.metrics.needs import unmet_need
from carob.runner.pairing import Pair, Pairing
from carob.schema import Dataset, Json, Problem, Span, Trace, UnmatchedTrace
from carob.schema.session import (
    CapturedCase,
    Session,
    SessionCounts,
    SessionDetail,
    SessionEvaluation,
    SessionPage,
    SessionState,
    SessionSupport,
)
from carob.store import Database, inbox, open_store
from carob.store.inbox import (
    SessionFilter,
    SessionRow,
    find_session,
    open_inbox,
    unread_sessions,
    write_probe,
)
from carob.store.inbox import list_sessions as read_sessions
from carob.store.retention import keep_sessions, remove_sessions
from carob.traces.capture import Capture, TraceFilter
from carob.traces.otlp_export import export_spans
from carob.traces.sufficiency import check_sufficiency
from carob.versions.publish import registry_lock

_AFTER_ROOT = 3_000_000
_AFTER_SPAN = 30_000_000
"""Microseconds without a span after which a session is complete: after its roots have ended, and
while one of them has not been seen."""
_MAX_READ = 2_000
"""Spans of a session that the list reads by itself; larger ones are read when they are opened."""
_MAX_SEARCHED = 500
"""Sessions that a search reads, if nobody has looked at them before."""


def list_sessions(
    store: str,
    *,
    agent: str | None = None,
    state: SessionState | None = None,
    text: str | None = None,
    limit: int = 50,
    after: str | None = None,
) -> SessionPage:
    """List sessions, the one that changed last first. `text` is part of the id, the agent or the
    first message; `after` is the `next` of the page before."""
    start = _parse_after(after) if after else None
    wanted = session_filter(agent=agent, state=state, text=text)
    with open_inbox(store) as database:
        if text is not None:  # the first message is only known after reading
            read_summaries(
                database, unread_sessions(database, max_spans=_MAX_READ, limit=_MAX_SEARCHED)
            )
        # One row more than requested shows whether there is a next page.
        rows = read_sessions(database, limit=limit + 1, before=start, wanted=wanted)
        items = [_session(row) for row in _read_unread(database, rows[:limit])]
        # Counting reads the whole index, and later pages need not know again.
        total = inbox.count_sessions(database, wanted)[0] if after is None else None
    more = f"{rows[limit - 1].updated}-{rows[limit - 1].id}" if len(rows) > limit else None
    return SessionPage(items=tuple(items), next=more, total=total)


def session_filter(
    *, agent: str | None = None, state: SessionState | None = None, text: str | None = None
) -> SessionFilter:
    """Return the filter for the sessions in a state now."""
    now = time.time_ns() // 1000
    complete = None if state is None else state == "complete"
    return SessionFilter(agent, text, complete, now - _AFTER_ROOT, now - _AFTER_SPAN)


def _read_unread(database: Database, rows: Sequence[SessionRow]) -> list[SessionRow]:
    """Read the spans of the sessions that have not been read yet, unless they are many."""
    unread = [row for row in rows if row.turns is None and row.spans <= _MAX_READ]
    read = {row.id: row for row in read_summaries(database, unread)}
    return [read.get(row.id, row) for row in rows]


def open_session(store: str, session: str) -> SessionDetail:
    """Build the trace of a session, or take the one that was built before, and say which metrics
    it supports."""
    with open_inbox(store) as database:
        row = find_session(database, session)
        problems: list[Problem] = []
        trace = session_trace(database, row, problems)
        row = find_session(database, session)
    if trace is None:
        return SessionDetail(_session(row), None, {}, (), tuple(problems))
    checked = check_sufficiency(trace, metric_needs(), unmet_need)
    hints = tuple(dict.fromkeys(checked.hints.values()))
    return SessionDetail(_session(row), trace, checked.supports, hints, tuple(problems))


def session_span_list(store: str, session: str) -> tuple[Span, ...]:
    """Return the spans of a session in the order of their start."""
    with open_inbox(store) as database:
        row = find_session(database, session)
        traces = session_spans(database, row.id, [])
    spans = [span for group in traces.values() for span in group]
    return tuple(sorted(spans, key=lambda span: span.start or 0))


def export_session(store: str, session: str) -> dict[str, Json]:
    """Return the spans of a session as an OTLP export request."""
    with open_inbox(store) as database:
        row = find_session(database, session)
        traces = session_spans(database, row.id, [])
    return export_spans(span for spans in traces.values() for span in spans)


def count_sessions(store: str) -> SessionCounts:
    """Count what has arrived so far."""
    with open_inbox(store) as database:
        sessions, spans = inbox.count_sessions(database)
        waiting, _ = inbox.count_sessions(database, session_filter(state="open"))
    return SessionCounts(sessions=sessions, open=waiting, spans=spans)


def count_open_sessions(store: str) -> int:
    """Count the sessions that may still go on."""
    with open_inbox(store) as database:
        return inbox.count_sessions(database, session_filter(state="open"))[0]


def session_support(store: str, sessions: Sequence[Session]) -> dict[str, SessionSupport]:
    """Say how many metrics can score each session, and the one setting that would help the most.
    Sessions whose spans have not been read are left out."""
    read = [session for session in sessions if session.turns is not None]
    return {session.id: _support(store, session.id, session.updated_at) for session in read}


@lru_cache(maxsize=2_000)
def _support(store: str, session: str, _updated: str) -> SessionSupport:
    """Derive it once for each state of a session: a list shows the same ones again and again."""
    detail = open_session(store, session)
    missing = Counter(why for why in detail.supports.values() if why is not None)
    setting = None
    if detail.trace:
        hints = check_sufficiency(detail.trace, metric_needs(), unmet_need).hints
        setting = next((hints[why] for why, _ in missing.most_common() if why in hints), None)
    good = len(detail.supports) - missing.total()
    return SessionSupport(metrics=good, total=len(metric_needs()), setting=setting)


def compare_session(store: str, session: str, golden: PathName | Dataset) -> tuple[Pair, Trace]:
    """Find the golden case that a session belongs to, by its id or its first message."""
    trace = _load_traces(store, {session: None})[session]
    if trace is None:
        raise RefusedError(f"no agent was at work in session {session!r}")
    return Pairing(load_golden(golden).cases).pair(trace), trace


def capture_session(
    store: str,
    session: str,
    *,
    dataset: PathName | None = None,
    format: str | None = None,
    turn: int | None = None,
    tags: Sequence[str] = (),
) -> CapturedCase:
    """Turn a session, or one turn of it (from 1), into a golden case. With `dataset`, add the case
    as a draft to that golden file, which is created in `format` if missing, and never remove the
    session to make room."""
    # Late: what it looks for is large, and a server may never capture a session.
    from carob.datasets.lint.privacy import find_personal_data

    detail = open_session(store, session)
    if detail.trace is None:
        raise RefusedError(f"no agent was at work in session {session!r}")
    capture = Capture(TraceFilter())
    capture.add([_select_turn(detail.trace, turn)])
    cases = capture.finish()
    if not cases:
        raise RefusedError(f"session {session!r} has no case", hint=capture.explain_empty())
    case = msgspec.structs.replace(cases[0], tags=tuple(dict.fromkeys(tags)))
    found = find_personal_data(msgspec.json.decode(msgspec.json.encode(case)), f"case {case.id}")
    captured = CapturedCase(case, (*detail.problems, *capture.problems, *found))
    if dataset is None:
        return captured
    added = add_cases([case], writable_path(dataset), format=format)
    keep_session(store, session)
    if not added:
        return msgspec.structs.replace(captured, is_duplicate=True)
    return msgspec.structs.replace(captured, case=added[0])


def add_golden_session(
    store: str,
    session: str,
    folder: GoldenFolder,
    name: str,
    format: str | None = None,
    *,
    turn: int | None = None,
    tags: Sequence[str] = (),
) -> CapturedCase:
    """Add a session, or one turn of it, to a dataset of the folder as a draft case, one editor at a
    time. A new dataset is created in `format`."""
    with registry_lock(folder.registry):
        file = file_for_cases(folder, name, format)
        return capture_session(store, session, dataset=file, format=format, turn=turn, tags=tags)


def _select_turn(trace: Trace, turn: int | None) -> Trace:
    if turn is None:
        return trace
    if not 1 <= turn <= len(trace.turns):
        raise UsageError(f"no turn {turn}: the session has {len(trace.turns)}")
    # What is true at the end of the session says nothing about a turn in the middle.
    return msgspec.structs.replace(trace, turns=(trace.turns[turn - 1],), case=None, state=None)


def evaluate_sessions(
    store: str,
    sessions: Sequence[str],
    golden: PathName | Dataset,
    *,
    metrics: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    config: Path | Config | None = None,
    listeners: Listeners | None = None,
) -> SessionEvaluation:
    """Score sessions against golden data, and save the run. Only sessions that match a case by its
    id or its first message are scored; the others are listed with the reason."""
    dataset = load_golden(golden)
    matched = match_traces(_load_traces(store, dict.fromkeys(sessions)), dataset)
    if not matched.traces:
        reasons = "; ".join(f"{missing.trace}: {missing.why}" for missing in matched.unmatched[:3])
        raise RefusedError(f"no session matches a case of {dataset.name}", hint=reasons or None)
    request = RunRequest(
        recorded=matched.traces,
        golden=golden,
        cases=matched.cases,
        metrics=metrics,
        config=config,
        store=store,
        labels=labels or {},
        keep_traces=True,
    )
    run = evaluate(request, listeners).run
    return SessionEvaluation(run, matched.unmatched)


class MatchedSessions(NamedTuple):
    """The traces of sessions that match a case of a dataset, and the sessions that do not."""

    traces: list[Trace]
    cases: list[str]
    unmatched: tuple[UnmatchedTrace, ...]


def match_traces(traces: Mapping[str, Trace | None], dataset: Dataset) -> MatchedSessions:
    """Find the sessions that match a case by its id or its first message."""
    pairing = Pairing(dataset.cases)
    matching: list[Trace] = []
    cases: dict[str, None] = {}
    unmatched: list[UnmatchedTrace] = []
    for session, trace in traces.items():
        pair = pairing.pair(trace) if trace else None
        if trace and pair and pair.case:
            matching.append(trace)
            cases[pair.case.id] = None
        else:
            reason = pair.reason if pair else "no agent was at work in it"
            unmatched.append(UnmatchedTrace(session, reason))
    return MatchedSessions(matching, [*cases], tuple(unmatched))


def check_sessions(store: str, sessions: Iterable[str]) -> None:
    """Raise `NotFoundError` unless all sessions exist."""
    with open_inbox(store) as database:
        for session in sessions:
            find_session(database, session)


def _load_traces(store: str, sessions: Mapping[str, None]) -> dict[str, Trace | None]:
    with open_inbox(store) as database:
        rows = [find_session(database, session) for session in sessions]
        return {row.id: session_trace(database, row, []) for row in rows}


def check_writable(store: str) -> None:
    """Raise an error unless runs can be read and what agents send can be written to disk now."""
    with open_store(store, create=True) as database:
        next(database.rows("SELECT COUNT(*) FROM tokens"))
    with open_inbox(store) as database:
        write_probe(database, time.time_ns() // 1000)


def keep_session(store: str, session: str) -> None:
    """Never remove a session to make room: golden data comes from it."""
    with open_inbox(store) as database:
        keep_sessions(database, [session])


def discard_session(store: str, session: str) -> None:
    """Remove a session and its spans."""
    with open_inbox(store) as database:
        find_session(database, session)
        remove_sessions(database, [session])


def _session(row: SessionRow) -> Session:
    wait = _AFTER_SPAN if row.ended is None else _AFTER_ROOT
    complete = time.time_ns() // 1000 - row.updated > wait
    return Session(
        id=row.id,
        state="complete" if complete else "open",
        agent=row.agent,
        started_at=_timestamp(row.started) if row.started is not None else None,
        updated_at=_timestamp(row.updated),
        spans=row.spans,
        turns=row.turns,
        tools=row.tools,
        first_message=row.message,
        kept=row.kept,
    )


def _timestamp(microseconds: int) -> str:
    moment = datetime.fromtimestamp(microseconds // 10**6, UTC)
    fraction = microseconds % 10**6 // 1000
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{fraction:03}Z"


def _parse_after(after: str) -> tuple[int, str]:
    updated, dash, session = after.partition("-")
    if not dash or not updated.isdecimal():
        hint = "use the `next` value of the previous page"
        raise UsageError(f"invalid page start {after!r}", hint=hint)
    return int(updated), session
