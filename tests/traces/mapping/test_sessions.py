from __future__ import annotations

from carob.schema import Trace, Turn
from carob.traces.mapping.traces import merge_sessions


def trace(key: str, conversation: str | None, start: int, case: str | None = None) -> Trace:
    turn = Turn(user=key, start=start, end=start + 1)
    return Trace(id=key, conversation=conversation, turns=(turn,), case=case)


def test_traces_of_a_conversation_become_one_in_order_of_time():
    sessions = list(
        merge_sessions([trace("b", "s-1", 20), trace("x", None, 15), trace("a", "s-1", 10)])
    )
    assert [(session.id, [turn.user for turn in session.turns]) for session in sessions] == [
        ("s-1", ["a", "b"]),
        ("x", ["x"]),
    ]


def test_case_comes_from_any_trace_of_the_session():
    (session,) = merge_sessions([trace("a", "s-1", 10), trace("b", "s-1", 20, case="tides-1")])
    assert session.case == "tides-1"


def test_trace_id_equal_to_a_conversation_is_not_merged():
    assert len(list(merge_sessions([trace("s-1", None, 1), trace("a", "s-1", 2)]))) == 2
