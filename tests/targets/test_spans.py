"""Spans of an agent, joined to the turns that caused them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from carob.api.live_request import LiveRequest
from carob.api.run_request import RunRequest
from carob.api.running.rescore import stored_traces
from carob.api.runs import evaluate
from carob.schema import Case, Dataset, Trace, Turn
from carob.targets.function import AgentInput
from tests.api.agent_spans import chat, send

TWO = Dataset(name="shop", cases=[Case(id="two", turns=(Turn(user="hi"), Turn(user="order 12?")))])

IN_PROCESS = """
import json, sys
from opentelemetry import trace
import carob
from carob import Case, Dataset, ToolCall, Turn

tracer = trace.get_tracer("shop")

def answer(message):
    with tracer.start_as_current_span("invoke_agent shop") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
        span.set_attribute("gen_ai.agent.name", "shop")
        with tracer.start_as_current_span("execute_tool get_order") as tool:
            tool.set_attribute("gen_ai.operation.name", "execute_tool")
            tool.set_attribute("gen_ai.tool.name", "get_order")
            tool.set_attribute("gen_ai.tool.call.arguments", '{"order_id": "12"}')
            tool.set_attribute("gen_ai.tool.call.result", '"shipped"')
        with tracer.start_as_current_span("chat gpt-5-mini") as call:
            call.set_attribute("gen_ai.operation.name", "chat")
            call.set_attribute("gen_ai.request.model", "gpt-5-mini")
            call.set_attribute("gen_ai.usage.input_tokens", 30)
            call.set_attribute("gen_ai.usage.output_tokens", 4)
    return "It is shipped."

call = ToolCall("get_order", {"order_id": "12"})
turns = tuple(Turn(user=text, response="It is shipped.", tool_calls=(call,)) for text in "ab")
dataset = Dataset(name="shop", cases=[Case(id=f"c{n}", turns=turns) for n in range(5)])
metrics = ["tool_trajectory_avg_score", "exact_match", "token_usage"]
run = carob.run(golden=dataset, target=answer, metrics=metrics, span_wait=5)
print(json.dumps([{s.metric: s.value for s in result.scores} for result in run.cases]))
"""


def test_spans_of_this_process_show_what_the_replies_do_not():
    ended = subprocess.run(
        [sys.executable, "-c", IN_PROCESS],
        capture_output=True,
        text=True,
        env={**os.environ},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    expected = {"tool_trajectory_avg_score": 1.0, "exact_match": 1.0, "token_usage": 68}
    assert json.loads(ended.stdout) == [expected] * 5


def ask(store: Path, agent: Any, wait: float) -> Trace:
    live = LiveRequest(target=agent, span_wait=wait)
    request = RunRequest(golden=TWO, metrics=["latency"], live=live, store=str(store))
    (trace,) = stored_traces(str(store), evaluate(request).run.id)
    return trace


def test_spans_that_a_receiver_gets_are_joined_by_trace_id(tmp_path: Path):
    store = tmp_path / "runs.db"

    def agent(message: str, conversation: AgentInput) -> str:
        span = chat(7, message, f"from a span: {message}", gen_ai__request__model="gpt-5-mini")
        trace_id = conversation.traceparent.split("-")[1]
        late = threading.Timer(0.3, send, (str(store), {**span, "traceId": trace_id}))
        late.start()
        return "from the reply"

    trace = ask(store, agent, wait=20.0)
    assert [turn.user for turn in trace.turns] == ["hi", "order 12?"]
    assert [turn.response for turn in trace.turns] == ["from a span: hi", "from a span: order 12?"]
    assert trace.models == ("gpt-5-mini",)
    assert trace.sources["turns.response"] == "spans"


def test_wait_for_spans_is_bounded_and_replies_stay(tmp_path: Path):
    trace = ask(tmp_path / "runs.db", str.upper, wait=0.3)
    assert [turn.response for turn in trace.turns] == ["HI", "ORDER 12?"]
    assert "turns.response" not in trace.sources
