"""LangGraph's server with a scripted agent, on the port of the first argument."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.graph import END, START, MessagesState, StateGraph


class ShopState(MessagesState):
    tier: str
    last_order: str


def model(state: ShopState) -> dict[str, Any]:
    last = state["messages"][-1]
    if isinstance(last, ToolMessage):
        return {"messages": [AIMessage(content=f"Your order is {last.content}.")]}
    if "break" in last.content:
        raise RuntimeError("the graph broke")
    if "order" not in last.content:
        return {"messages": [AIMessage(content="Hello!")]}
    order = "".join(filter(str.isdigit, last.content))
    call = {"name": "get_order", "args": {"order_id": order}, "id": f"call-{order}"}
    usage = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
    return {"messages": [AIMessage(content="", tool_calls=[call], usage_metadata=usage)]}


def tools(state: ShopState) -> dict[str, Any]:
    (call,) = state["messages"][-1].tool_calls
    status = "shipped" if state.get("tier") == "gold" else "waiting"
    message = ToolMessage(content=status, tool_call_id=call["id"], name=call["name"])
    return {"messages": [message], "last_order": call["args"]["order_id"]}


def route(state: ShopState) -> str:
    return "tools" if state["messages"][-1].tool_calls else END


builder = StateGraph(ShopState)
builder.add_node("model", model)
builder.add_node("tools", tools)
builder.add_edge(START, "model")
builder.add_conditional_edges("model", route, ["tools", END])
builder.add_edge("tools", "model")
graph = builder.compile()


if __name__ == "__main__":
    os.environ |= {
        "LANGSERVE_GRAPHS": json.dumps({"shop": f"{Path(__file__).resolve()}:graph"}),
        "DATABASE_URI": ":memory:",
        "REDIS_URI": "fake",
        "MIGRATIONS_PATH": "__inmem",
        "LANGGRAPH_RUNTIME_EDITION": "inmem",
        "LANGSMITH_TRACING": "false",
        "ALLOW_PRIVATE_NETWORK": "true",
    }
    import uvicorn

    uvicorn.run("langgraph_api.server:app", host="127.0.0.1", port=int(sys.argv[1]))
