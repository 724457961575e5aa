"""Sessions: grouped, listed, made golden, scored. The same for every kind of store."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from carob.api.load import load
from carob.api.serving import sessions as api
from carob.errors import FormatError, NotFoundError, RefusedError
from carob.schema import Dataset
from carob.schema.case import Case
from carob.schema.trace import Turn
from carob.store.inbox import inbox_url
from tests.api.agent_spans import chat, send, trace_id


def golden(*cases: tuple[str, str, str]) -> Dataset:
    turns = [Case(id=id, turns=(Turn(user=user, response=text),)) for id, user, text in cases]
    return Dataset(name="shop", cases=tuple(turns))


def test_list_shows_what_the_traces_say(store: str):
    talk = {"gen_ai__conversation__id": "talk"}
    send(store, chat(1, "Is it open?", "Until six.", **talk), chat(2, "Thanks!", "Bye.", **talk))
    (session,) = api.list_sessions(store).items
    assert (session.id, session.agent, session.spans) == ("talk", "support", 2)
    assert (session.turns, session.tools, session.first_message) == (2, 0, "Is it open?")


def test_new_spans_are_seen_in_a_session_that_was_read_before(store: str):
    talk = {"gen_ai__conversation__id": "talk"}
    send(store, chat(1, "Is it open?", "Until six.", **talk))
    assert api.list_sessions(store).items[0].turns == 1
    send(store, chat(2, "Thanks!", "Bye.", **talk))
    assert api.list_sessions(store).items[0].turns == 2


def test_sessions_are_found_by_state_agent_and_text(store: str):
    send(store, chat(1, "Is it open?", "Until six."))
    send(store, chat(2, "100% sure?", "Yes.", gen_ai__agent__name="planner"))

    def ids(**filters: Any) -> list[str]:
        return [session.id for session in api.list_sessions(store, **filters).items]

    assert ids(agent="planner") == [trace_id(2)]
    assert ids(text="IS IT") == [trace_id(1)]
    assert ids(text="100%") == [trace_id(2)]
    assert ids(text="plann") == [trace_id(2)]
    assert ids(text="nowhere") == ids(state="complete") == []
    assert ids(state="open") == [trace_id(2), trace_id(1)]


def test_session_becomes_a_golden_case_and_is_kept(store: str, tmp_path: Path):
    send(store, chat(1, "Is it open?", "Until six."))
    file = tmp_path / "golden" / "shop.json"
    captured = api.capture_session(store, trace_id(1), dataset=file)
    (case,) = load(file).cases
    assert (case.id, case.turns[0].response) == (captured.case.id, "Until six.")
    assert api.list_sessions(store).items[0].kept
    assert api.capture_session(store, trace_id(1), dataset=file).is_duplicate
    assert len(load(file).cases) == 1


def test_preview_writes_nothing_and_warns_of_personal_data(store: str):
    send(store, chat(1, "I am mara.vogt@gmail.com", "Hello."))
    captured = api.capture_session(store, trace_id(1))
    assert any("email" in problem.message for problem in captured.problems)
    assert not api.list_sessions(store).items[0].kept


def test_only_sessions_that_match_a_case_are_scored(store: str):
    send(store, chat(1, "Is it open?", "Until six."), chat(2, "Do you rent?", "No."))
    dataset = golden(("open", "is it  OPEN?", "Until six."))
    sessions = [trace_id(1), trace_id(2)]
    result = api.evaluate_sessions(store, sessions, dataset, metrics=["response_match_score"])
    assert [(case.case, case.status) for case in result.run.cases] == [("open", "passed")]
    assert [missing.trace for missing in result.unmatched] == [trace_id(2)]


def test_the_only_session_is_not_scored_against_a_foreign_case(store: str):
    send(store, chat(1, "Do you rent?", "No."))
    with pytest.raises(RefusedError, match="no session matches a case"):
        api.evaluate_sessions(store, [trace_id(1)], golden(("open", "Is it open?", "Until six.")))


def test_request_of_several_gzip_members_is_read_completely(store: str):
    send(store, chat(1, "Is it open?", "Until six."), members=3)
    assert [session.id for session in api.list_sessions(store).items] == [trace_id(1)]


def test_sessions_can_be_read_while_the_disk_is_full(tmp_path: Path):
    """Whoever cannot see them cannot choose those that make room."""
    store = str(tmp_path / "carob.db")
    send(store, chat(1, "Is it open?", "Until six."))
    with sqlite3.connect(inbox_url(store)) as database:
        database.execute(
            "CREATE TRIGGER full BEFORE UPDATE ON sessions"
            " BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
        )
    (session,) = api.list_sessions(store).items
    assert (session.turns, session.first_message) == (1, "Is it open?")
    assert api.open_session(store, session.id).trace


def test_damaged_session_does_not_hide_the_others(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    send(store, chat(1, "Is it open?", "Until six."))
    send(store, chat(2, "Thanks!", "Bye."))
    with sqlite3.connect(inbox_url(store)) as database:
        database.execute("UPDATE payloads SET body = substr(body, 1, 20) WHERE number = 1")
    listed = {session.id: session.turns for session in api.list_sessions(store).items}
    assert listed == {trace_id(1): None, trace_id(2): 1}
    with pytest.raises(FormatError, match="damaged payload"):
        api.open_session(store, trace_id(1))


def test_unknown_sessions_are_errors(store: str):
    for use in (api.open_session, api.capture_session, api.discard_session):
        with pytest.raises(NotFoundError, match="no session 'x'"):
            use(store, "x")


def test_session_that_comes_after_the_last_one_was_discarded_appears(store: str):
    send(store, chat(1, "Is it open?", "Until six."))
    api.discard_session(store, trace_id(1))
    send(store, chat(2, "Thanks!", "Bye."))
    assert [session.id for session in api.list_sessions(store).items] == [trace_id(2)]
