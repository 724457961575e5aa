"""Targets against the real servers of agent frameworks, each with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Generator
from secrets import token_hex
from typing import Any

import pytest

from carob.schema import Case, CaseSession, Json, TargetSettings, ToolCall, ToolResult, Trace, Turn
from carob.targets.conversation import TimeLimits
from carob.targets.live import LiveLimits, LiveRecorder, PlannedAttempt
from carob.targets.mocks import ToolMocks, golden_results
from carob.targets.open import open_target
from carob.targets.target import Attempt
from tests.targets.environment import SCRIPTS, framework_python, serving

STATE: dict[str, Json] = {"tier": "gold"}


def case(*users: str) -> Case:
    session = CaseSession(app="shop", user="mara", state=STATE)
    return Case(id="order", turns=tuple(Turn(user=user) for user in users), session=session)


def ask(name: str, golden: Case, *, mocks: bool = False, **settings: Any) -> Trace:
    """Hold one conversation with a target."""
    traces: list[Trace] = []
    target = open_target(TargetSettings(name=name, **settings))

    async def finished(_: PlannedAttempt, trace: Trace) -> None:
        traces.append(trace)

    limits = LiveLimits(times=TimeLimits(turn=settings.get("turn_timeout", 60.0)))
    recorder = LiveRecorder(target=target, limits=limits, finished=finished)
    planned = PlannedAttempt(
        number=0,
        case=golden,
        attempt=Attempt(run=token_hex(8), case=golden.id, state=STATE),
        mocks=(lambda: ToolMocks(results=golden_results(golden))) if mocks else None,
    )
    asyncio.run(recorder.record([planned]))
    return traces[0]


def said(trace: Trace) -> list[tuple[str | None, str | None]]:
    return [(turn.user, turn.response) for turn in trace.turns]


def calls(trace: Trace) -> list[tuple[str, Any]]:
    return [(call.name, call.args) for turn in trace.turns for call in turn.tool_calls or ()]


def results(trace: Trace) -> list[Any]:
    return [result.result for turn in trace.turns for result in turn.tool_results]


ORDER = [("get_order", {"order_id": "12"})]
SHIPPED = [("hi", "Hello!"), ("order 12?", "Your order is shipped.")]


@pytest.fixture(scope="module")
def adk_url() -> Generator[str]:
    adk = framework_python().parent / "adk"
    options = ("--port", "{port}", "--host", "127.0.0.1", "--session_service_uri", "memory://")
    with serving(adk, "api_server", SCRIPTS / "adk_apps", *options) as address:
        yield f"adk:{address}/shop"


def test_adk_session_document_is_recorded_with_state_calls_and_tokens(adk_url: str):
    trace = ask(adk_url, case("hi", "order 12?"))
    assert trace.failure is None
    assert said(trace) == SHIPPED
    assert calls(trace) == ORDER
    assert results(trace) == [{"status": "shipped"}]
    assert trace.state == {"tier": "gold", "last_order": "12"}
    assert trace.usage.input_tokens == 60
    assert trace.agents == ("shop",)
    assert trace.sources["turns"] == "session document"
    first = trace.attributes["carob.time_to_first_token_ms"]
    assert isinstance(first, list)
    assert len(first) == 2


def test_adk_exception_of_the_agent_is_named(adk_url: str):
    trace = ask(adk_url, case("break"))
    assert trace.failure
    assert trace.failure.message == "RuntimeError: the model broke"


def test_adk_turn_that_takes_too_long_is_sent_once(adk_url: str):
    trace = ask(adk_url, case("slow", "hi"), turn_timeout=1.0)
    assert trace.failure
    assert trace.failure.kind == "timeout"
    assert [turn.user for turn in trace.turns] == ["slow"]


def test_adk_unknown_app_is_an_error(adk_url: str):
    trace = ask(f"{adk_url}x", case("hi"))
    assert trace.failure
    assert "404" in trace.failure.message


@pytest.fixture(scope="module")
def langgraph_url() -> Generator[str]:
    script = SCRIPTS / "langgraph_agent.py"
    with serving(framework_python(), script, "{port}") as address:
        yield f"langgraph:{address}/shop"


def test_langgraph_state_of_the_thread_is_recorded(langgraph_url: str):
    trace = ask(langgraph_url, case("hi", "order 12?"))
    assert trace.failure is None
    assert said(trace) == SHIPPED
    assert calls(trace) == ORDER
    assert results(trace) == ["shipped"]
    assert trace.state == {"tier": "gold", "last_order": "12"}
    assert trace.usage.input_tokens == 20


def test_langgraph_error_with_http_200_is_an_error(langgraph_url: str):
    trace = ask(langgraph_url, case("break"))
    assert trace.failure
    assert trace.failure.message == "RuntimeError: the graph broke"


def test_langgraph_unknown_assistant_is_an_error(langgraph_url: str):
    failure = ask(f"{langgraph_url}x", case("hi")).failure
    assert failure
    assert failure.message.startswith("HTTP 4")


@pytest.fixture(scope="module")
def a2a_url() -> Generator[str]:
    with serving(framework_python(), SCRIPTS / "a2a_agent.py", "{port}") as address:
        yield f"a2a:{address}"


@pytest.mark.parametrize("card", ["rpc", "old", "rest"])
def test_a2a_task_that_needs_input_goes_on_in_its_context(a2a_url: str, card: str):
    trace = ask(f"{a2a_url}/{card}", case("hi", "my order?", "number 12"))
    assert trace.failure is None
    assert said(trace) == [
        ("hi", "Hello!"),
        ("my order?", "Which order?"),
        ("number 12", "Order 12 is shipped."),
    ]
    assert trace.conversation
    assert all(turn.tool_calls is None for turn in trace.turns)  # not recorded, not none


@pytest.mark.parametrize("card", ["rpc", "old", "rest"])
def test_a2a_exception_of_the_agent_is_an_error(a2a_url: str, card: str):
    failure = ask(f"{a2a_url}/{card}", case("break")).failure
    assert failure
    assert failure.kind == "agent"


def test_a2a_missing_card_is_an_error(a2a_url: str):
    failure = ask(f"{a2a_url}/nothing", case("hi")).failure
    assert failure
    assert "404" in failure.message


@pytest.fixture(scope="module")
def ag_ui_url() -> Generator[str]:
    with serving(framework_python(), SCRIPTS / "ag_ui_agent.py", "{port}") as address:
        yield f"agui:{address}/"


def test_ag_ui_events_become_calls_results_and_state(ag_ui_url: str):
    trace = ask(ag_ui_url, case("hi", "order 12?"))
    assert trace.failure is None
    assert said(trace) == SHIPPED
    assert calls(trace) == ORDER
    assert results(trace) == ["shipped"]
    assert trace.state == {"tier": "gold", "last_order": "12"}


def test_ag_ui_error_of_the_run_is_an_error(ag_ui_url: str):
    failure = ask(ag_ui_url, case("break")).failure
    assert failure
    assert failure.message == "the model broke"


@pytest.fixture(scope="module")
def openai_url() -> Generator[str]:
    with serving(framework_python(), SCRIPTS / "openai_api.py", "{port}") as address:
        yield f"{address}/v1"


def order_case() -> Case:
    call = ToolCall("get_order", {"order_id": "12"})
    turns = (
        Turn(user="hi"),
        Turn(
            user="order 12?",
            tool_calls=(call,),
            tool_results=(ToolResult("get_order", result="shipped"),),
        ),
        Turn(user="hi"),
    )
    return Case(id="order", turns=turns, context="The shop is open.")


@pytest.mark.parametrize("scheme", ["chat", "responses"])
def test_openai_tools_are_executed_from_mocks(openai_url: str, scheme: str):
    trace = ask(f"{scheme}:gpt-5-mini", order_case(), mocks=True, url=openai_url)
    assert trace.failure is None
    assert said(trace) == [*SHIPPED, ("hi", "Hello!")]
    assert calls(trace) == ORDER
    assert [r.origin for turn in trace.turns for r in turn.tool_results] == ["mocked"]
    assert trace.usage.input_tokens == 120
    assert trace.models == ("gpt-5-mini",)


@pytest.mark.parametrize("scheme", ["chat", "responses"])
def test_openai_call_without_a_recorded_result_fails_the_conversation(openai_url: str, scheme: str):
    trace = ask(f"{scheme}:gpt-5-mini", case("order 99?"), mocks=True, url=openai_url)
    assert trace.failure
    assert trace.failure.kind == "mock"
    assert 'get_order({"order_id":"99"})' in trace.failure.message


def test_openai_call_without_mocks_says_how_to_execute_it(openai_url: str):
    failure = ask("chat:gpt-5-mini", case("order 99?"), url=openai_url).failure
    assert failure
    assert "--mocks golden" in failure.message
