"""Play users with google-adk's simulator and a scripted model: JSON in, JSON out.

Run by the interpreter of `.peers`, which has google-adk; it must not import Carob.
"""

# pyright: basic, reportMissingImports=false
from __future__ import annotations

import asyncio
import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from google.adk.evaluation.conversation_scenarios import ConversationScenario  # noqa: E402
from google.adk.evaluation.eval_config import EvalConfig  # noqa: E402
from google.adk.evaluation.simulation.llm_backed_user_simulator import (  # noqa: E402
    LlmBackedUserSimulator,
)
from google.adk.events.event import Event  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.genai import types  # noqa: E402


class ScriptedModel:
    """Answers with the texts of a script, the last one again and again."""

    def __init__(self, script: list[str]) -> None:
        self.script, self.prompts = script, []

    async def generate_content_async(self, request, stream=False):
        self.prompts.append(request.contents[0].parts[0].text)
        text = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def events_of(message: str, reply: list[dict]) -> list[Event]:
    user = types.Content(role="user", parts=[types.Part(text=message)])
    events = [Event(author="user", content=user)]
    for part in reply:
        content = types.Content(role="model", parts=[types.Part.model_validate(part)])
        events.append(Event(author="agent", content=content))
    return events


async def play(task: dict) -> dict:
    """Let the user say all messages, each answered with the same parts."""
    try:
        config = EvalConfig.model_validate(task["config"]).user_simulator_config
        scenario = ConversationScenario.model_validate(task["scenario"])
        model = ScriptedModel(list(task["script"]))
        user = LlmBackedUserSimulator(config=config, conversation_scenario=scenario)
        user._llm = model
        events: list[Event] = []
        messages: list[str] = []
        for _ in range(30):
            said = await user.get_next_user_message(events)
            if said.user_message is None:
                return {"messages": messages, "end": said.status.value, "prompts": model.prompts}
            messages.append(said.user_message.parts[0].text)
            events += events_of(messages[-1], task["reply"])
        return {"messages": messages, "end": None, "prompts": model.prompts}
    except Exception as error:  # noqa: BLE001 - whatever it is, google-adk refuses the task
        return {"error": f"{type(error).__name__}: {error}"[:300]}


print(json.dumps([asyncio.run(play(task)) for task in json.load(sys.stdin)]))  # noqa: T201
