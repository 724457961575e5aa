"""The steps of LangGraph's graphs, which every recorder writes into its own attributes."""

from __future__ import annotations

from carob.schema import Json


def graph_node(path: str) -> str | None:
    """Return the node that contains a step, from LangGraph's `writer:<id>|model:<id>`.

    A graph within a graph is an agent of a team; a step of the outer graph has a single part. The
    node `tools` of LangChain's agents is none: what it contains is called by a tool.
    """
    parts = path.split("|")
    node = parts[-2].strip('"').split(":", 1)[0] if len(parts) > 1 else None
    return None if node == "tools" else node or None


def is_graph_in_tool(name: str, node: Json, received: Json, returned: Json) -> bool:
    """Whether a step of LangGraph is an agent that a tool runs: in JavaScript, such a graph has the
    metadata of the agent around it, and only its name is its own."""
    if node != "tools" or name in (node, "LangGraph"):
        return False
    return all(
        isinstance(text, str) and text.startswith('{"messages":') for text in (received, returned)
    )
