"""The tools that golden data names, with recorded results, for agents that use MCP tools."""

from __future__ import annotations

from carob.api.load import PathName, load_golden
from carob.errors import UsageError, install_hint
from carob.schema import Dataset, Json, MissPolicy
from carob.targets.chat import tool_definitions
from carob.targets.mocks import MockedResult, MockSource, ToolMocks


def serve_mocks(
    golden: PathName | Dataset, *, mocks: str, on_miss: MissPolicy, port: int | None
) -> None:
    """Serve the tools of all cases over MCP until the client leaves, or over HTTP if there is a
    port. `mocks` is `golden` or a file. Raises `UsageError` if the package `mcp` is missing or no
    tool has a result."""
    try:
        from carob.targets import mcp_mock  # late: an extra, and slow to import
    except ModuleNotFoundError as error:
        message = f"a mock MCP server requires the package {error.name!r}, which is not installed"
        raise UsageError(message, hint=install_hint("mcp")) from error
    tools, recorded = collect_tools(golden, mocks, on_miss)
    server = mcp_mock.create_mock_server(tools, recorded)
    if port is None:
        mcp_mock.serve_stdio(server)
    else:
        mcp_mock.serve_http(server, port)


def collect_tools(
    golden: PathName | Dataset, mocks: str, on_miss: MissPolicy
) -> tuple[list[dict[str, Json]], ToolMocks]:
    """Return the definitions of all tools, and the results of all cases."""
    dataset = load_golden(golden)
    source = MockSource(mocks, on_miss)
    tools: dict[str, dict[str, Json]] = {}
    # The server cannot know which case asks, so that all cases share their results.
    recorded: list[MockedResult] = []
    for case in dataset.cases:
        own = source.for_case(case, 0).recorded
        recorded += [result for result in own if result not in recorded]
    everything = ToolMocks(results=recorded, on_miss=on_miss)
    for case in dataset.cases:
        for tool in tool_definitions(None, case, source.for_case(case, 0)):
            _merge(tools.setdefault(str(tool["name"]), tool), tool)
    if not recorded:
        hint = "record them with `carob run --target … --record FILE`, and pass --mocks FILE"
        raise UsageError("no tool results are recorded", where=dataset.name, hint=hint)
    return [*tools.values()], everything


def _merge(tool: dict[str, Json], other: dict[str, Json]) -> None:
    """Add the parameters that only another case uses."""
    known, more = tool.get("parameters"), other.get("parameters")
    if isinstance(known, dict) and isinstance(more, dict):
        properties, added = known.get("properties"), more.get("properties")
        if isinstance(properties, dict) and isinstance(added, dict):
            properties.update({key: added[key] for key in added if key not in properties})
