"""Teams of LangChain agents: an agent as a tool, a swarm and deep agents; and a plain graph."""

from __future__ import annotations

from typing import Any

from langchain.agents import create_agent
from langchain_openai import ChatOpenAI

from tests.captures.frameworks import support

RECORDER, _, SHAPE = support.RECORDER.partition("-")


def start_recorder() -> tuple[Any, list[Any]]:
    """Start the recorder; return what to flush, and the callbacks that it needs."""
    provider = support.tracer_provider()
    if RECORDER in ("openinference", "both"):
        from openinference.instrumentation.langchain import LangChainInstrumentor

        LangChainInstrumentor().instrument(tracer_provider=provider)
    if RECORDER in ("openllmetry", "both"):
        from opentelemetry.instrumentation.langchain import LangchainInstrumentor

        LangchainInstrumentor().instrument(tracer_provider=provider)
    if RECORDER == "langfuse":
        from langfuse import Langfuse
        from langfuse.langchain import CallbackHandler

        client = Langfuse(public_key="pk", secret_key="sk", host=support.URL)
        return client, [CallbackHandler()]
    return provider, []


def build_worker(model: Any, tools: list[Any]) -> Any:
    return create_agent(
        model,
        tools=tools,
        system_prompt=support.instructions(support.WORKER),
        name=support.WORKER,
    )


def build_tool_team(model: Any) -> Any:
    worker = build_worker(model, support.TOOLS)

    def ask_weather_agent(question: str) -> str:
        """Ask the weather agent."""
        state = worker.invoke({"messages": [{"role": "user", "content": question}]})
        return state["messages"][-1].content

    return create_agent(
        model,
        tools=[ask_weather_agent],
        system_prompt=support.instructions(support.COORDINATOR),
        name=support.COORDINATOR,
    )


def build_swarm(model: Any) -> Any:
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph_swarm import create_handoff_tool, create_swarm

    coordinator = create_agent(
        model,
        tools=[create_handoff_tool(agent_name=support.WORKER)],
        system_prompt=support.instructions(support.COORDINATOR),
        name=support.COORDINATOR,
    )
    worker = build_worker(
        model, [*support.TOOLS, create_handoff_tool(agent_name=support.COORDINATOR)]
    )
    swarm = create_swarm([coordinator, worker], default_active_agent=support.COORDINATOR)
    return swarm.compile(checkpointer=InMemorySaver(), name="team")


def build_deep_agent(model: Any) -> Any:
    from deepagents import create_deep_agent

    worker = {
        "name": support.WORKER,
        "description": "Knows the weather.",
        "system_prompt": support.instructions(support.WORKER),
        "tools": support.TOOLS,
    }
    is_team = support.TEAM == "sub-agent"
    return create_deep_agent(
        model=model,
        tools=[] if is_team else support.TOOLS,
        system_prompt=support.instructions(support.COORDINATOR if is_team else support.WORKER),
        subagents=[worker] if is_team else [],
        name=support.COORDINATOR if is_team else support.WORKER,
    )


def build_graph(model: Any) -> Any:
    """The graph of LangGraph's tutorials: a node that asks the model, and one that runs tools."""
    from langchain_core.messages import SystemMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    with_tools = model.bind_tools(support.TOOLS)

    def chatbot(state: MessagesState) -> dict[str, Any]:
        prompt = SystemMessage(support.instructions(support.WORKER))
        return {"messages": [with_tools.invoke([prompt, *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("chatbot", chatbot)
    graph.add_node("tools", ToolNode(support.TOOLS, handle_tool_errors=True))
    graph.add_edge(START, "chatbot")
    graph.add_conditional_edges("chatbot", tools_condition)
    graph.add_edge("tools", "chatbot")
    return graph.compile(checkpointer=InMemorySaver())


BUILDERS = {
    "tool": build_tool_team,
    "swarm": build_swarm,
    "deep": build_deep_agent,
    "graph": build_graph,
}


def main() -> None:
    recorder, callbacks = start_recorder()
    model = ChatOpenAI(model=support.MODEL, streaming=support.STREAM, stream_usage=True)
    agent = BUILDERS[SHAPE](model)
    config: dict[str, Any] = {
        "configurable": {"thread_id": "thread_1"},
        "callbacks": callbacks,
        "metadata": {"session_id": "session_1"},
    }

    def ask(user: str) -> str:
        message = {"messages": [{"role": "user", "content": user}]}
        return agent.invoke(message, config)["messages"][-1].content

    support.ask_all(ask)
    if hasattr(recorder, "force_flush"):
        recorder.force_flush()
    else:
        recorder.flush()


main()
