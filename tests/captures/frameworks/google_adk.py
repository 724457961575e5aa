"""Google's Agent Development Kit."""

from __future__ import annotations

import asyncio
import base64
import os
import tempfile
from pathlib import Path
from typing import Any

from tests.captures.frameworks import support

if support.RECORDER in ("latest", "events"):
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    mode = "SPAN_AND_EVENT" if support.RECORDER == "latest" else "EVENT_ONLY"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = (
        mode if support.CONTENT else "NO_CONTENT"
    )
os.environ["ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS"] = str(support.CONTENT).lower()
os.environ |= {"GOOGLE_API_KEY": "test", "GOOGLE_GEMINI_BASE_URL": support.URL}

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types

MODEL = "gemini-2.5-flash"


def start_recorder() -> Any:
    if support.RECORDER == "session":
        return None
    provider = support.tracer_provider()
    support.logger_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.google_adk import GoogleADKInstrumentor

        GoogleADKInstrumentor().instrument(tracer_provider=provider)
    return provider


def build_agent() -> LlmAgent:
    worker = LlmAgent(
        name=support.WORKER,
        model=MODEL,
        instruction=support.instructions(support.WORKER),
        description="Knows the weather.",
        tools=[*map(report_errors, support.TOOLS)],
    )
    if not support.IN_TWO:
        return worker
    options: dict[str, Any] = (
        {"sub_agents": [worker]} if support.TEAM == "hand-over" else {"tools": [AgentTool(worker)]}
    )
    return LlmAgent(
        name=support.COORDINATOR,
        model=MODEL,
        instruction=support.instructions(support.COORDINATOR),
        **options,
    )


def report_errors(tool: Any) -> Any:
    """Return a tool that reports errors as ADK's documentation advises: in its result."""
    if tool is not support.book_table:
        return tool

    def book_table(city: str, guests: int) -> dict[str, str]:
        """Book a table in a restaurant."""
        try:
            return {"status": "success", "result": support.book_table(city, guests)}
        except RuntimeError as error:
            return {"status": "error", "error_message": str(error)}

    return book_table


def build_parts(user: str) -> list[types.Part]:
    parts = [types.Part(text=user)]
    if support.has_image(user):
        data = base64.b64decode(support.IMAGE)
        parts.append(types.Part.from_bytes(data=data, mime_type="image/png"))
    return parts


async def main() -> None:
    provider = start_recorder()
    runner = InMemoryRunner(build_agent(), app_name="captures")
    session = await runner.session_service.create_session(
        app_name="captures", user_id="user_1", session_id="session_1"
    )
    config = RunConfig(streaming_mode=StreamingMode.SSE if support.STREAM else StreamingMode.NONE)
    if support.MAX_STEPS:
        config.max_llm_calls = support.MAX_STEPS

    async def ask(user: str) -> str | None:
        answer = None
        message = types.Content(role="user", parts=build_parts(user))
        async for event in runner.run_async(
            user_id="user_1", session_id=session.id, new_message=message, run_config=config
        ):
            if event.is_final_response() and event.content and event.content.parts:
                answer = event.content.parts[-1].text
        return answer

    await support.ask_all_async(ask)
    if support.RECORDER == "session":
        stored = await runner.session_service.get_session(
            app_name="captures", user_id="user_1", session_id=session.id
        )
        support.document(stored.model_dump(mode="json", by_alias=True, exclude_none=True))
    if provider:
        provider.force_flush()


def serve() -> None:
    """Ask through the server of `adk web`, and record what its debug page shows of the session."""
    from fastapi.testclient import TestClient
    from google.adk.cli.fast_api import get_fast_api_app

    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "captures"
        package.mkdir()
        (package / "__init__.py").write_text("from . import agent\n")
        source = "from tests.captures.frameworks.google_adk import build_agent\n"
        (package / "agent.py").write_text(f"{source}root_agent = build_agent()\n")
        client = TestClient(get_fast_api_app(agents_dir=folder, web=True))
        client.post("/apps/captures/users/user_1/sessions", json={"sessionId": "session_1"})

        def ask(user: str) -> str | None:
            message = {"role": "user", "parts": [{"text": user}]}
            run = {"appName": "captures", "userId": "user_1", "sessionId": "session_1"}
            events = client.post("/run", json={**run, "newMessage": message}).json()
            return events[-1]["content"]["parts"][0].get("text")

        support.ask_all(ask)
        support.document(client.get("/dev/apps/captures/debug/trace/session/session_1").json())


if __name__ == "__main__" and support.RECORDER == "web":
    serve()
elif __name__ == "__main__":
    asyncio.run(main())
