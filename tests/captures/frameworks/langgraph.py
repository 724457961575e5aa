"""LangGraph and LangChain's agents."""

from __future__ import annotations

import os
from typing import Any

from tests.captures.frameworks import support

if support.RECORDER == "langsmith":
    # Before LangChain is imported, which reads the variables once.
    os.environ |= {
        "LANGSMITH_TRACING": "true",
        "LANGSMITH_OTEL_ENABLED": "true",
        "LANGSMITH_OTEL_ONLY": "true",
        "LANGSMITH_API_KEY": "test",
        "LANGSMITH_ENDPOINT": support.URL,
        "LANGSMITH_HIDE_INPUTS": str(not support.CONTENT).lower(),
        "LANGSMITH_HIDE_OUTPUTS": str(not support.CONTENT).lower(),
    }

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from langchain.messages import ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langgraph_supervisor import create_supervisor


def start_recorder() -> tuple[Any, list[Any]]:
    """Start the recorder; return what to flush, and the callbacks that it needs."""
    if support.RECORDER == "opik":
        support.start_opik()
        from opik.integrations.langchain import OpikTracer

        tracer = OpikTracer(thread_id="thread_1")
        return tracer, [tracer]
    if support.RECORDER == "weave":
        return support.start_weave(), []
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "openllmetry":
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        LangchainInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "langfuse":
        from langfuse import Langfuse
        from langfuse.langchain import CallbackHandler

        client = Langfuse(public_key="pk", secret_key="sk", host=support.URL)
        return client, [CallbackHandler()]
    return provider, []


@wrap_tool_call
def report_errors(request: Any, handler: Any) -> Any:
    """Tell the model about an error, which would end the run otherwise."""
    try:
        return handler(request)
    except RuntimeError as error:
        call = request.tool_call
        return ToolMessage(str(error), tool_call_id=call["id"], name=call["name"], status="error")


def build_agent() -> Any:
    model = ChatOpenAI(model=support.MODEL, streaming=support.STREAM, stream_usage=True)
    memory = InMemorySaver()
    middleware: list[Any] = (
        [report_errors] if "book_table" in str(support.SCENARIO["questions"]) else []
    )
    if support.NAME == "approval":
        middleware.append(HumanInTheLoopMiddleware(interrupt_on={"get_weather": True}))
    worker = create_agent(
        model,
        tools=support.TOOLS,
        system_prompt=support.instructions(support.WORKER),
        name=support.WORKER,
        middleware=middleware,
        checkpointer=None if support.IN_TWO else memory,
    )
    if not support.IN_TWO:
        return worker
    supervisor = create_supervisor(
        [worker],
        model=model,
        prompt=support.instructions(support.COORDINATOR),
        supervisor_name=support.COORDINATOR,
    )
    return supervisor.compile(checkpointer=memory, name="team")


def main() -> None:
    recorder, callbacks = start_recorder()
    agent = build_agent()
    config: dict[str, Any] = {
        "configurable": {"thread_id": "thread_1"},
        "callbacks": callbacks,
        "metadata": {"session_id": "session_1"},
    }
    if support.MAX_STEPS:
        config["recursion_limit"] = 2 * support.MAX_STEPS

    def ask(user: str) -> str:
        message = {"messages": [{"role": "user", "content": support.openai_content(user)}]}
        state = run(message)
        if "__interrupt__" in state:
            state = run(Command(resume={"decisions": [{"type": "approve"}]}))
        return state["messages"][-1].content

    def run(value: Any) -> Any:
        if not support.STREAM:
            return agent.invoke(value, config)
        for _ in agent.stream(value, config, stream_mode="messages"):
            pass
        return agent.get_state(config).values

    support.ask_all(ask)
    if hasattr(recorder, "force_flush"):
        recorder.force_flush()
    else:
        recorder.flush()  # Langfuse, Opik and Weave
    if support.RECORDER == "langsmith":
        from langsmith.run_trees import get_cached_client

        get_cached_client().flush()


main()
