from __future__ import annotations

import tracemalloc

from carob.runner.pairing import Pairing, pair_only_case, pair_traces, pair_with_all
from carob.schema import Case, Scenario, Trace, Turn


def case(name: str, *users: str) -> Case:
    return Case(id=name, turns=tuple(Turn(user=user) for user in users))


def trace(*users: str | None, names: str | None = None) -> Trace:
    return Trace(id="t", case=names, turns=tuple(Turn(user=user) for user in users))


def test_case_named_by_the_trace_takes_precedence():
    cases = [case("a", "Hi"), case("b", "Where is my order?")]
    pair = Pairing(cases).pair(trace("Hi", names="b"))
    assert pair.case == cases[1]
    assert pair.reason == "by case id"


def test_named_case_that_does_not_exist_is_not_replaced_by_a_similar_one():
    pair = Pairing([case("a", "Hi")]).pair(trace("Hi", names="z"))
    assert pair.case is None
    assert pair.reason == "the trace names the unknown case 'z'"


def test_first_message_is_compared_ignoring_case_and_whitespace():
    cases = [case("a", "Where  is my\nORDER?"), case("b", "Hi")]
    pair = Pairing(cases).pair(trace("where is my order?"))
    assert pair.case == cases[0]
    assert pair.reason == "by first user message"


def test_both_encodings_of_a_letter_with_a_mark_are_the_same_message():
    cases = [case("a", "Where is the caf\u00e9?"), case("b", "Hi")]
    assert Pairing(cases).pair(trace("Where is the cafe\u0301?")).case == cases[0]


def test_number_of_turns_decides_between_cases_with_the_same_message():
    cases = [case("short", "Hi"), case("long", "Hi", "And now?")]
    assert Pairing(cases).pair(trace("Hi", "And then?")).case == cases[1]


def test_ambiguous_trace_is_not_paired():
    pair = Pairing([case("a", "Hi"), case("b", "Hi")]).pair(trace("Hi"))
    assert pair.case is None
    assert pair.reason == "several cases begin with its message: 'a', 'b'"


def test_several_cases_of_different_lengths_are_ambiguous():
    cases = [case("short", "Hi"), case("long", "Hi", "And now?")]
    pair = Pairing(cases).pair(trace("Hi", "And then?", "And now?"))
    assert pair.case is None
    assert pair.reason == "several cases begin with its message: 'short', 'long'"


def test_scenario_starts_with_its_prompt():
    scenario = Case(id="s", scenario=Scenario(prompt="Hi", plan="Ask for a refund."))
    assert Pairing([scenario]).pair(trace("hi")).case == scenario


def test_trace_without_a_message_has_a_reason():
    assert Pairing([case("a", "Hi")]).pair(trace(None)).reason == "the trace has no user message"


def test_only_case_and_only_trace_are_paired():
    only = case("a", "Hi")
    pair = pair_only_case([only], trace("Hello"))
    assert pair
    assert pair.case == only
    assert pair_only_case([only], trace("Hello", names="b")) is None
    assert pair_only_case([only, only], trace("Hello")) is None


def test_every_case_is_crossed_with_the_trace():
    assert [
        pair.case and pair.case.id for pair in pair_with_all([case("a"), case("b")], trace())
    ] == [
        "a",
        "b",
    ]


def test_index_of_many_cases_is_built_in_little_more_memory_than_its_own():
    cases = [case(f"case-{number}", f"Where is parcel {number}?") for number in range(20_000)]
    tracemalloc.start()
    try:
        pairing = Pairing(cases)
        size, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * size
    assert pairing.pair(trace("where is parcel 777?")).case == cases[777]


def test_first_trace_without_a_case_waits_for_the_end_of_the_stream():
    only = case("a", "Opening hours?")

    def pairs(*traces: Trace) -> list[tuple[str | None, str]]:
        return [
            (pair.case.id if pair.case else None, pair.reason)
            for pair in pair_traces([only], traces)
        ]

    by_message = ("a", "by first user message")
    unknown = (None, "no case begins with its message")
    assert pairs(trace("Something else")) == [("a", "the only case and the only trace")]
    assert pairs(trace("Opening hours?")) == [by_message]
    assert pairs(trace("Something else"), trace("Opening hours?")) == [unknown, by_message]
    assert pairs(trace("Opening hours?"), trace("Something else")) == [by_message, unknown]
    assert pairs(trace("x", names="b")) == [(None, "the trace names the unknown case 'b'")]
    assert pairs() == []
