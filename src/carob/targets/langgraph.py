"""LangGraph's server: a thread per conversation, and its state at the end."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Json, TargetSettings, Trace, Turn
from carob.targets.http import HttpClient, check_address, error_text
from carob.targets.target import (
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)
from carob.traces.containers.langgraph import LangGraphState
from carob.traces.messages.chat import chat_turns
from carob.traces.shape import as_array, as_object, as_text

_CAN: frozenset[Capability] = frozenset(
    ("state_in", "state_out", "calls", "results", "usage", "agents")
)


def open_langgraph(settings: TargetSettings) -> Target:
    """Open `langgraph:http://HOST/ASSISTANT`."""
    url = check_address(settings.name.partition(":")[2], settings.name)
    base, _, assistant = url.rpartition("/")
    if not assistant or base.endswith(("/", ":")):
        hint = "such as langgraph:http://127.0.0.1:2024/agent"
        raise UsageError("the URL names no assistant", where=settings.name, hint=hint)
    return LangGraphTarget(settings, base, assistant)


class LangGraphTarget:
    """A graph behind LangGraph's server."""

    can = _CAN

    def __init__(self, settings: TargetSettings, base: str, assistant: str) -> None:
        self.name = settings.name
        self.params: dict[str, Json] = dict(settings.options)
        self.base, self.assistant = base, assistant
        self.options = settings.options
        self.client = HttpClient(settings)

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Create a thread."""
        answer = await self.client.request("POST", f"{self.base}/threads", {})
        thread = as_text(as_object(answer.value).get("thread_id"))
        if thread is None:
            raise TargetError("protocol", "the server created no thread", reached=False)
        return _Thread(self, thread, dict(attempt.state))

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


class _Thread:
    def __init__(self, target: LangGraphTarget, thread: str, state: dict[str, Json]) -> None:
        self._target, self._thread, self._state = target, thread, state
        self._url = f"{target.base}/threads/{quote(thread, safe='')}"
        self._seen = 0

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Run the graph, with the initial state in the first turn."""
        entry: Json = {"role": "user", "content": message}
        state, self._state = self._state, {}
        body: dict[str, Json] = {
            "assistant_id": self._target.assistant,
            "input": {**state, "messages": [entry]},
            **{
                key: self._target.options[key]
                for key in ("config", "context")
                if key in self._target.options
            },
        }
        headers = {"traceparent": turn.traceparent}
        answer = await self._target.client.request(
            "POST", f"{self._url}/runs/wait", body, headers=headers
        )
        values = as_object(answer.value)
        if "__error__" in values:  # with HTTP 200
            failure = as_object(values["__error__"])
            kind, text = as_text(failure.get("error")), error_text(failure.get("message"))
            raise TargetError("agent", ": ".join(filter(None, (kind, text))) or "the graph failed")
        messages = as_array(values.get("messages"))
        mine, self._seen = messages[self._seen :], len(messages)
        turns = chat_turns(mine)
        return turns[-1] if turns else Turn()

    async def close(self) -> Trace | None:
        """Read the state of the thread."""
        answer = await self._target.client.request("GET", f"{self._url}/state")
        reader, state = LangGraphState(), answer.value
        trace = (
            next(iter(reader.read(state, source="state")), None) if reader.claims(state) else None
        )
        values = as_object(as_object(state).get("values"))
        final = {key: value for key, value in values.items() if key != "messages"}
        if trace is None:
            return Trace(id="", state=final, conversation=self._thread)
        return msgspec.structs.replace(trace, source=None, state=final, conversation=self._thread)
