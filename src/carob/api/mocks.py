"""The tools that golden data names, with recorded results, for agents that use MCP tools."""

from __future__ import annotations

from pathlib import Path

from carob.api.load import PathName, load_golden
from carob.errors import UsageError, install_hint
from carob.schema import Case, Dataset, Json, MissPolicy
from carob.targets.chat import tool_definitions
from carob.targets.mocks import MockedResult, MockSource, ToolMocks


def serve_mocks(
    golden: PathName | Dataset | None,
    *,
    mocks: str = "golden",
    on_miss: MissPolicy = "error",
    port: int | None = None,
    upstream: str | None = None,
    record: Path | None = None,
) -> None:
    """Serve the tools of all cases over MCP until the client leaves, or over HTTP if there is a
    port. `mocks` is `golden` or a file. Calls without a recorded result go to the real server
    `upstream` if the policy is `live`, and what it answers is added to the file `record`. Raises
    `UsageError` if the package `mcp` is missing or no tool has a result."""
    if record is not None and upstream is None:
        raise UsageError("nothing to record", hint="name the real MCP server with --upstream")
    if on_miss == "live" and upstream is None:
        hint = "name the real MCP server with --upstream"
        raise UsageError("calls without a recorded result run nowhere", hint=hint)
    try:
        from carob.targets import mcp_mock  # late: an extra, and slow to import
    except ModuleNotFoundError as error:
        message = f"a mock MCP server requires the package {error.name!r}, which is not installed"
        raise UsageError(message, hint=install_hint("mcp")) from error
    tools, recorded = collect_tools(golden, mocks, on_miss, needed=upstream is None)
    mcp_mock.serve(tools, recorded, port=port, upstream=upstream, record=record)


def collect_tools(
    golden: PathName | Dataset | None, mocks: str, on_miss: MissPolicy, *, needed: bool = True
) -> tuple[list[dict[str, Json]], ToolMocks]:
    """Return the definitions of all tools, and the results of all cases. Raises `UsageError` if
    results are needed and there are none."""
    if golden is None and mocks == "golden":
        if needed:
            raise UsageError("no golden data", hint="pass golden data, or --mocks FILE")
        return [], ToolMocks(results=(), on_miss=on_miss)
    dataset = Dataset(name=mocks, cases=[]) if golden is None else load_golden(golden)
    source = MockSource(mocks, on_miss)
    cases = dataset.cases if golden is not None else [Case(id="")]
    tools: dict[str, dict[str, Json]] = {}
    # The server cannot know which case asks, so that all cases share their results.
    recorded: list[MockedResult] = source.shared() if golden is None else []
    for case in cases:
        own = source.for_case(case, 0).recorded
        recorded += [result for result in own if result not in recorded]
    everything = ToolMocks(results=recorded, on_miss=on_miss)
    for case in cases:
        known = source.for_case(case, 0) if golden is not None else everything
        for tool in tool_definitions(None, case, known):
            _merge(tools.setdefault(str(tool["name"]), tool), tool)
    if needed and not recorded:
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
