"""Python code as a target, from `carob.run` on."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.errors import UsageError
from carob.lazy import load_reference
from carob.schema import Case, CaseSession, Dataset, LiveEvent, Run, ToolCall, ToolResult, Turn
from carob.targets.function import AgentInput, wrap_function
from tests.targets import agents

HOSE = Case.of("Price of the hose?", "The hose costs 19 euros.", id="hose")
RAKE = Case.of("Price of the rake?", "The rake costs 25 euros.", id="rake")
SHOP = Dataset(name="garden", cases=[HOSE, RAKE])
LONG = Case(
    id="long", turns=(Turn(user="Hi", response="1: Hi"), Turn(user="Bye", response="2: Bye"))
)


def run(target: Any, dataset: Dataset = SHOP, metrics: str = "exact_match", **options: Any) -> Run:
    return carob.run(golden=dataset, target=target, metrics=metrics, **options)


def statuses(run: Run) -> dict[str, str]:
    return {f"{result.case}": result.status for result in run.cases}


def test_smallest_function_answers_the_golden_questions():
    assert statuses(run(agents.answer)) == {"hose": "passed", "rake": "passed"}


def test_run_records_the_target_and_names_it_in_its_id():
    first, second = run(agents.answer), run(agents.answer_slowly)
    assert first.target
    assert first.target.name == "python:tests.targets.agents:answer"
    assert first.id != second.id


def test_class_has_one_object_per_conversation():
    both = Dataset(name="long", cases=[LONG, Case(id="again", turns=LONG.turns)])
    assert statuses(run(agents.Clerk, both)) == {"long": "passed", "again": "passed"}


def test_case_function_answers_all_turns_at_once():
    turns = (Turn(user="Hi", response="answer to Hi"), Turn(user="Bye", response="answer to Bye"))
    dataset = Dataset(name="long", cases=[Case(id="long", turns=turns)])
    assert statuses(run(agents.answer_case, dataset)) == {"long": "passed"}


def test_async_function_returns_calls_usage_and_state():
    case = Case(
        id="hose",
        turns=(Turn(user="hose?", tool_calls=(ToolCall("find_price", {"item": "hose"}),)),),
        state={"asked": 3},
        session=CaseSession(app="shop", user="mara", state={"asked": 2}),
    )
    metrics = ("tool_trajectory_avg_score", "state_management_fidelity", "token_usage")
    scored = run(agents.answer_async, Dataset(name="garden", cases=[case]), metrics=metrics)  # pyright: ignore[reportArgumentType] - a list of metrics
    scores = {score.metric: score.value for score in scored.cases[0].scores}
    assert scores["tool_trajectory_avg_score"] == 1.0
    assert scores["state_management_fidelity"] == 1.0
    assert scores["token_usage"] == 110


def test_caller_changes_the_initial_state():
    def tell(message: str, conversation: AgentInput) -> str:
        return str(conversation.state["tier"])

    case = Case(
        id="tier",
        turns=(Turn(user="Tier?", response="gold"),),
        session=CaseSession(app="shop", user="mara", state={"tier": "none"}),
    )
    dataset = Dataset(name="garden", cases=[case])
    assert statuses(run(tell, dataset, state={"tier": "gold"})) == {"tier": "passed"}


def test_function_sees_the_conversation_so_far():
    seen: list[tuple[int, list[dict[str, str]], str | None]] = []

    def listen(message: str, conversation: AgentInput) -> str:
        seen.append((conversation.turn, [*conversation.history], conversation.context))
        return message.upper()

    case = Case(id="two", turns=(Turn(user="a"), Turn(user="b")), context="The shop is open.")
    run(listen, Dataset(name="garden", cases=[case]))
    history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "A"}]
    assert seen == [(0, [], "The shop is open."), (1, history, "The shop is open.")]


def test_exception_of_the_agent_is_an_error_and_other_cases_go_on():
    scored = run(agents.break_on_rake)
    assert statuses(scored) == {"hose": "passed", "rake": "error"}
    (score,) = scored.cases[1].scores
    assert score.value is None
    assert score.status == "error"
    assert score.reason.startswith("agent: ValueError: the rake broke (agents.py line ")
    assert scored.verdict == "inconclusive"


def test_answer_of_the_wrong_type_is_an_error_with_the_expected_forms():
    def number(message: str) -> Any:
        return 7

    (score,) = run(number).cases[0].scores
    assert "invalid answer 7" in score.reason


def test_misspelt_field_of_an_answer_is_an_error():
    def misspelt(message: str) -> Any:
        return {"respones": "x"}

    assert "unknown field 'respones'" in run(misspelt).cases[0].scores[0].reason


def test_turn_that_takes_too_long_is_an_error():
    scored = run(agents.sleep_forever, turn_timeout=0.1)
    assert [result.status for result in scored.cases] == ["error", "error"]
    assert scored.cases[0].scores[0].reason == "timeout: a turn took longer than 0.1 s"


def test_case_that_cannot_be_played_is_an_error():
    cases = [Case(id="empty"), Case(id="silent", turns=(Turn(response="x"),)), HOSE]
    scored = run(agents.answer, Dataset(name="garden", cases=cases))
    assert statuses(scored) == {"empty": "error", "silent": "error", "hose": "passed"}
    assert "no turns and no scenario" in scored.cases[0].scores[0].reason
    assert "turn 1 has no user message" in scored.cases[1].scores[0].reason


def test_attempts_are_repeated_and_summarized():
    agents.ATTEMPTS.clear()
    scored = run(agents.answer_every_other, repeat=4, concurrency=1)
    assert [result.trace for result in scored.cases[:4]] == ["hose#1", "hose#2", "hose#3", "hose#4"]
    attempts = scored.summary.attempts
    assert attempts
    assert attempts.flaky == {"hose": (2, 4), "rake": (2, 4)}
    rates = {rate.k: (rate.any_passes, rate.all_pass) for rate in attempts.rates}
    assert rates[1] == (0.5, 0.5)
    assert rates[2] == (pytest.approx(5 / 6), pytest.approx(1 / 6))
    assert rates[4] == (1.0, 0.0)


def test_attempts_are_reported_as_they_finish():
    events: list[LiveEvent] = []
    run(agents.break_on_rake, attempts=events.append, concurrency=1)
    assert [(event.case, event.done, event.total, event.failed) for event in events] == [
        ("hose", 1, 2, 0),
        ("rake", 2, 2, 1),
    ]
    assert (events[1].error or "").startswith("agent: ValueError")


def test_tool_results_come_from_the_golden_case_with_mocks():
    case = Case(
        id="hose",
        turns=(
            Turn(
                user="hose?",
                response="The hose costs 7 euros.",
                tool_calls=(ToolCall("find_price", {"item": "hose"}),),
                tool_results=(ToolResult("find_price", result=7),),
            ),
        ),
    )
    scored = run(agents.answer_async, Dataset(name="garden", cases=[case]), mocks="golden")
    assert statuses(scored) == {"hose": "passed"}


def test_call_without_a_recorded_result_never_passes():
    dataset = Dataset(name="garden", cases=[HOSE])
    (result,) = run(agents.answer_async, dataset, mocks="golden").cases
    assert result.status == "error"
    assert result.scores[0].reason == 'mock: no recorded result for find_price({"item":"hose"})'


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("python:nowhere.py:answer", "cannot import nowhere.py"),
        ("python:tests.targets.agents:nothing", "has no attribute 'nothing'"),
        ("python:tests.targets.agents:PRICES", "is not callable"),
        ("python:answer", "expected a module and a name"),
        ("pyton:x:y", "unknown target 'pyton'"),
        ("agent.py", "expected SCHEME:REST"),
    ],
)
def test_target_that_cannot_be_opened_is_refused_before_anything_runs(target: str, message: str):
    with pytest.raises(UsageError, match=message):
        run(target)


def test_file_may_import_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "neighbour_of_agent.py").write_text("WORD = 'hello'")
    file = tmp_path / "small_agent.py"
    file.write_text("from neighbour_of_agent import WORD\ndef answer(message): return WORD\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    function: Callable[[str], str] = load_reference(f"{file}:answer", "x")
    assert function("hi") == "hello"


def test_function_without_a_parameter_is_refused():
    with pytest.raises(UsageError, match="takes no message"):
        wrap_function(lambda: "x")


def test_class_without_a_method_is_refused():
    class Silent:
        pass

    with pytest.raises(UsageError, match="cannot answer"):
        wrap_function(Silent)


def test_run_works_where_an_event_loop_is_running_already():
    async def cell() -> Run:
        return run(agents.answer_async)

    assert asyncio.run(cell()).summary.cases.passed == 2


async def _cancelled(message: str) -> str:
    raise asyncio.CancelledError


async def _exits(message: str) -> str:
    sys.exit(3)


async def _times_out(message: str) -> str:
    raise TimeoutError("the database")


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        (_cancelled, "agent: CancelledError"),
        (_exits, "agent: RuntimeError: SystemExit(3)"),
        (_times_out, "agent: TimeoutError: the database"),
    ],
)
def test_whatever_an_agent_raises_is_its_error_and_stops_no_other_case(agent: Any, reason: str):
    async def answer(message: str) -> str:
        return await agent(message) if message == "first" else "ok"

    cases = [Case.of(message, "ok", id=message) for message in ("first", "second")]
    run = carob.run(
        golden=Dataset(name="d", cases=cases), target=answer, metrics="exact_match", concurrency=1
    )
    assert [case.status for case in run.cases] == ["error", "passed"]
    assert run.cases[0].scores[0].reason.startswith(reason)


def test_miss_of_a_mock_mcp_server_is_an_error_of_the_mocks():
    """The server runs in another process: only the results of the agent's tools tell of it."""

    def answer(message: str) -> dict[str, Any]:
        text = 'no recorded result for get_order({"order_id":"99"})'
        content = {"content": [{"type": "text", "text": text}], "isError": True}
        return {
            "response": "ok",
            "tool_calls": [{"name": "get_order", "args": {"order_id": "99"}}],
            "tool_results": [{"name": "get_order", "result": content}],
        }

    (result,) = carob.run(
        golden=Dataset(name="d", cases=[Case.of("hi", "ok", id="a")]),
        target=answer,
        metrics="exact_match",
    ).cases
    assert result.status == "error"
    assert result.scores[0].reason == (
        "mock: no recorded result for get_order, says its MCP server"
    )
