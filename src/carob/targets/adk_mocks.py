"""Tool mocks for ADK: a plugin that answers tool calls before the tools run."""

from __future__ import annotations

from typing import Any

from carob.lazy import load_object
from carob.targets.mocks import MissingMockError, ToolMocks


def make_mock_plugin(mocks: ToolMocks) -> Any:
    """Return a plugin for `App(plugins=[…])` or a runner."""
    base: Any = load_object("google.adk.plugins.base_plugin:BasePlugin")

    class MockPlugin(base):
        """Answers tool calls with recorded results."""

        async def before_tool_callback(
            self, *, tool: Any, tool_args: dict[str, Any], tool_context: Any
        ) -> dict[str, Any] | None:
            """Return the recorded result, or `None` to run the tool."""
            try:
                result = await mocks.answer(tool.name, tool_args)
            except MissingMockError as error:
                if mocks.on_miss == "stop":
                    raise
                return {"error": str(error)}
            if result is None:
                return None
            # The tool does not run, so what it would have written must be written here.
            for key, value in result.state.items():
                tool_context.state[key] = value
            if result.error is not None:
                return {"error": result.error}
            value = result.result
            return value if isinstance(value, dict) else {"result": value}

    return MockPlugin(name="carob_mocks")
