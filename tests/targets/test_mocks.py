"""Recorded tool results: look-up, misses, faults, and recording."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.errors import CarobError
from carob.schema import Case, Dataset, ToolCall, ToolResult, Trace, Turn
from carob.targets.mocks import (
    MissingMockError,
    MockedResult,
    ToolError,
    ToolMocks,
    golden_results,
    read_mocks,
    recorded_results,
)
from tests.targets import agents


def mocks(*results: MockedResult, **options: Any) -> ToolMocks:
    return ToolMocks(results=results, **options)


def test_arguments_match_whatever_the_order_of_keys_and_the_form_of_numbers():
    found = mocks(MockedResult("t", {"a": 1, "b": [2.0]}, result="x")).find(
        "t", {"b": [2], "a": 1.0}
    )
    assert found
    assert found.result == "x"


def test_results_of_equal_calls_come_in_order_and_the_last_one_again():
    several = mocks(MockedResult("t", {}, result=1), MockedResult("t", {}, result=2))
    assert [several.call("t", {}, None) for _ in range(4)] == [1, 2, 2, 2]


def _ten_times(id: int) -> int:
    return id * 10


def test_recorded_error_is_raised():
    with pytest.raises(ToolError, match="sold out"):
        mocks(MockedResult("t", {}, error="sold out")).call("t", {}, None)


def test_miss_is_an_error_by_default_and_can_be_answered_otherwise():
    known = MockedResult("t", {"id": 1}, result="x")
    missed = mocks(known)
    with pytest.raises(MissingMockError, match=r'no recorded result for t\({"id":2}\)'):
        missed.find("t", {"id": 2})
    assert missed.missed
    by_name = mocks(known, on_miss="by-name").find("t", {"id": 2})
    assert by_name
    assert by_name.result == "x"
    live = mocks(known, on_miss="live")
    assert live.call("t", {"id": 2}, _ten_times) == 20
    assert [use.origin for use in live.uses] == ["live"]


def test_result_without_arguments_answers_any_call():
    assert mocks(MockedResult("t", result="x")).call("t", {"id": 2}, None) == "x"


def test_injected_faults_are_repeatable():
    fault = MockedResult("t", error="timeout", probability=0.5)

    def outcomes(seed: str) -> list[bool]:
        one = mocks(fault, MockedResult("t", result="x"), seed=seed)
        found = [one.find("t", {}) for _ in range(40)]
        return [bool(result and result.error) for result in found]

    assert outcomes("1") == outcomes("1") != outcomes("2")
    assert 5 < sum(outcomes("1")) < 35


def test_faults_happen_to_every_nth_call():
    every = mocks(MockedResult("t", error="busy", every=3), MockedResult("t", result="x"))
    answers = [every.find("t", {"n": n}) for n in range(7)]
    errors = [bool(answer and answer.error) for answer in answers]
    assert errors == [False, False, True, False, False, True, False]


def test_faults_with_arguments_happen_to_these_alone():
    fault = MockedResult("t", {"id": 1}, error="busy", probability=1)
    some = mocks(fault, MockedResult("t", result="x"))
    assert some.call("t", {"id": 2}, None) == "x"
    with pytest.raises(ToolError, match="busy"):
        some.call("t", {"id": 1.0}, None)


def test_latency_is_injected_before_the_recorded_the_faulty_and_the_real_result(
    monkeypatch: pytest.MonkeyPatch,
):
    async def note_wait(seconds: float) -> None:
        waits.append(seconds)

    waits: list[float] = []
    monkeypatch.setattr(asyncio, "sleep", note_wait)
    slow = MockedResult("t", latency=0.05, every=2)
    recorded = MockedResult("t", {"id": 1}, result="x", latency=0.02)
    every = mocks(slow, recorded, on_miss="live")
    values = [
        asyncio.run(every.call_async("t", {"id": id}, _ten_times_later)) for id in (1, 1, 2, 2)
    ]
    assert values == ["x", "x", 20, 20]
    assert waits == pytest.approx([0.02, 0.07, 0.05])
    assert [use.origin for use in every.uses] == ["mocked", "mocked", "live", "live"]


async def _ten_times_later(id: int) -> int:
    return id * 10


def test_latency_holds_up_one_conversation_and_counts_in_its_time(tmp_path: Path):
    waiting: list[str] = []
    most = 0

    async def answer(message: str, conversation: Any) -> str:
        nonlocal most
        waiting.append(message)
        most = max(most, len(waiting))
        price = await conversation.call_tool_async("price", {"item": message})
        waiting.remove(message)
        return str(price)

    file = tmp_path / "tools.jsonl"
    file.write_text('{"tool":"price","result":19,"latency":0.3}\n')
    cases = [Case.of(f"item {number}", "19", id=f"c{number}") for number in range(8)]
    run = carob.run(
        golden=Dataset(name="garden", cases=cases),
        target=answer,
        metrics=["exact_match", "latency"],
        mocks=file,
    )
    assert run.verdict == "passed"
    assert most > 1  # the others went on
    assert all((case.scores[1].value or 0) >= 0.3 for case in run.cases)


def test_slow_tool_runs_into_the_limit_of_the_turn(tmp_path: Path):
    async def answer(message: str, conversation: Any) -> str:
        return str(await conversation.call_tool_async("price", {"item": message}))

    file = tmp_path / "tools.jsonl"
    file.write_text('{"tool":"price","latency":60,"every":1}\n{"tool":"price","result":19}\n')
    (result,) = carob.run(
        golden=Dataset(name="garden", cases=[Case.of("hose", "19", id="hose")]),
        target=answer,
        metrics="exact_match",
        mocks=file,
        turn_timeout=0.2,
        on_miss="live",  # so that the conversation is not held again
    ).cases
    assert result.status == "error"
    assert "took longer than 0.2 s" in result.scores[0].reason


@pytest.mark.parametrize("fault", ['"probability":2', '"every":0', '"latency":-1', '"latency":999'])
def test_impossible_fault_is_refused(tmp_path: Path, fault: str):
    file = tmp_path / "tools.jsonl"
    file.write_text(f'{{"tool":"t",{fault}}}\n')
    with pytest.raises(CarobError, match="line 1"):
        read_mocks(file)


def test_results_belong_to_the_call_with_their_id_or_their_name():
    turn = Turn(
        tool_calls=(ToolCall("a", {"n": 1}, "1"), ToolCall("a", {"n": 2}, "2"), ToolCall("b", {})),
        tool_results=(
            ToolResult("a", "2", "second"),
            ToolResult("a", "1", "first"),
            ToolResult("b", None, "third"),
        ),
    )
    results = golden_results(Case(id="c", turns=(turn,)))
    assert [(result.tool, result.args, result.result) for result in results] == [
        ("a", {"n": 2}, "second"),
        ("a", {"n": 1}, "first"),
        ("b", {}, "third"),
    ]


def test_recorded_results_of_a_run_answer_the_next_one(tmp_path: Path):
    dataset = Dataset(
        name="garden", cases=[Case.of("hose?", "The hose costs 19 euros.", id="hose")]
    )
    file = tmp_path / "tools.jsonl"
    carob.run(golden=dataset, target=agents.answer_async, metrics="exact_match", record=file)
    assert [result.result for result in read_mocks(file)] == [19]
    file.write_text(file.read_text().replace("19", "20"))
    (result,) = carob.run(
        golden=dataset, target=agents.answer_async, metrics="exact_match", mocks=file
    ).cases
    assert result.exchanges[0].actual == "The hose costs 20 euros."


def test_recorded_results_know_what_a_tool_wrote_to_the_state():
    turn = Turn(tool_calls=(ToolCall("t", {}, "c1"),), tool_results=(ToolResult("t", "c1", "x"),))
    trace = Trace(
        id="a#1",
        case="a",
        turns=(turn,),
        attributes={"carob.state_deltas": {"c1": {"last": 1}}},
    )
    assert recorded_results(trace) == [
        MockedResult("t", {}, result="x", state={"last": 1}, case="a")
    ]


def test_broken_file_is_refused_with_its_line(tmp_path: Path):
    file = tmp_path / "tools.jsonl"
    file.write_text('{"tool": "t"}\n{"result": 1}\n')
    with pytest.raises(CarobError, match="line 2"):
        read_mocks(file)
