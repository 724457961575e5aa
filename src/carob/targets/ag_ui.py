"""AG-UI: agents that stream events to a user interface. The client sends the whole history."""

from __future__ import annotations

import time
from typing import Any

import msgspec

from carob.schema import Case, Json, TargetSettings, Trace, Turn
from carob.targets.http import HttpClient, check_address
from carob.targets.mocks import MissingMockError
from carob.targets.target import (
    FIRST_TOKENS,
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)
from carob.traces.containers.ag_ui import AgUi
from carob.traces.messages.chat import chat_turns
from carob.traces.shape import as_object, as_text, fold_keys, objects_in

_CAN: frozenset[Capability] = frozenset(
    ("state_in", "state_out", "calls", "results", "context", "mocks", "stream")
)
_MAX_ROUNDS = 25


def open_ag_ui(settings: TargetSettings) -> Target:
    """Open `agui:http://HOST/PATH`."""
    return AgUiTarget(settings, check_address(settings.name.partition(":")[2], settings.name))


class AgUiTarget:
    """An agent behind an AG-UI endpoint."""

    can = _CAN

    def __init__(self, settings: TargetSettings, url: str) -> None:
        self.name = settings.name
        self.params: dict[str, Json] = dict(settings.options)
        self.url, self.options = url, settings.options
        self.client = HttpClient(settings)

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Start a thread. Nothing is sent before the first message."""
        return _Thread(self, case, attempt)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


class _Thread:
    def __init__(self, target: AgUiTarget, case: Case, attempt: Attempt) -> None:
        self._target, self._attempt = target, attempt
        self._messages: list[Json] = []
        self._state: Json = dict(attempt.state)
        self._shown_state = False
        self._context: list[Json] = []
        if case.context:
            self._context.append({"description": "context", "value": case.context})
        self._first: list[Json] = []

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Run the agent, and answer the calls of front-end tools until there are none."""
        start = len(self._messages)
        self._add("user", {"content": message}, turn, "user")
        started, first = time.time_ns(), None
        for number in range(_MAX_ROUNDS):
            events, seen = await self._run(turn, number)
            first = first or seen
            self._follow(events)
            open_calls = self._find_unanswered(start)
            if not open_calls:
                break
            for id, name, args in open_calls:
                await self._answer(id, name, args, turn)
        else:
            raise TargetError("agent", f"the agent still calls tools after {_MAX_ROUNDS} runs")
        self._first.append(None if first is None else round((first - started) / 1e6))
        turns = chat_turns([_as_chat(message) for message in self._messages[start:]])
        return turns[-1] if turns else Turn()

    async def close(self) -> Trace | None:
        """Return the last state that the agent showed."""
        state = as_object(self._state) if self._shown_state else None
        attributes: dict[str, Json] = {FIRST_TOKENS: self._first}
        return Trace(
            id="",
            state=state,
            conversation=self._attempt.session,
            convention="ag-ui",
            mapper="ag-ui@1",
            attributes=attributes,
        )

    async def _run(
        self, turn: TurnContext, number: int
    ) -> tuple[list[dict[str, Json]], int | None]:
        body: Json = {
            "threadId": self._attempt.session,
            "runId": f"{self._attempt.session}-{turn.index}-{number}",
            "state": self._state,
            "messages": self._messages,
            "tools": self._target.options.get("tools", []),
            "context": self._context,
            "forwardedProps": self._target.options.get("forwarded_props", {}),
        }
        events: list[dict[str, Json]] = []
        first = None
        headers = {"traceparent": turn.traceparent}
        async with self._target.client.stream(self._target.url, body, headers=headers) as stream:
            async for item in stream:
                event: Any = item.json()
                kind = as_text(as_object(event).get("type")) or ""
                if kind == "TEXT_MESSAGE_CONTENT":
                    first = first or time.time_ns()
                if kind == "RUN_ERROR":
                    text = as_text(as_object(event).get("message")) or "the run failed"
                    raise TargetError("agent", self._target.client.redact(text))
                events.append(as_object(event))
        if not any(event.get("type") == "RUN_FINISHED" for event in events):
            raise TargetError("protocol", "the stream ended before RUN_FINISHED")
        return events, first

    def _follow(self, events: list[dict[str, Json]]) -> None:
        """Add what the agent did to the history, and its changes to the state."""
        for event in map(fold_keys, events):
            kind = event.get("type")
            if kind == "STATE_SNAPSHOT":
                self._state, self._shown_state = event.get("snapshot"), True
            elif kind == "STATE_DELTA":
                self._state = apply_patch(self._state, objects_in(event.get("delta")))
                self._shown_state = True
        snapshots = [event for event in events if event.get("type") == "MESSAGES_SNAPSHOT"]
        if snapshots:
            self._messages = list(objects_in(snapshots[-1].get("messages")))
            return
        trace = next(AgUi().read([*events], source="events"), None)
        for turn in trace.turns if trace else ():
            self._add_turn(turn)

    def _add_turn(self, turn: Turn) -> None:
        prefix = f"{self._attempt.session}-{len(self._messages)}"
        calls: list[Json] = [
            {
                "id": call.id or f"{prefix}-call-{number}",
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": msgspec.json.encode(call.args or {}).decode(),
                },
            }
            for number, call in enumerate(turn.tool_calls or ())
        ]
        if calls:
            self._messages.append(
                {"id": f"{prefix}-calls", "role": "assistant", "toolCalls": calls}
            )
        for number, result in enumerate(turn.tool_results):
            value = result.result if result.error is None else result.error
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            self._messages.append(
                {
                    "id": f"{prefix}-result-{number}",
                    "role": "tool",
                    "toolCallId": result.id,
                    "content": text,
                }
            )
        if turn.response:
            entry: Json = {"id": f"{prefix}-text", "role": "assistant", "content": turn.response}
            self._messages.append(entry)

    def _find_unanswered(self, start: int) -> list[tuple[str, str, Json]]:
        """Return the calls without a result: the tools of the user interface."""
        answered: set[str | None] = set()
        calls: list[tuple[str, str, Json]] = []
        for message in objects_in(self._messages[start:]):
            fields = fold_keys(message)
            if fields.get("role") == "tool":
                answered.add(as_text(fields.get("toolcallid")))
            for call in objects_in(fields.get("toolcalls")):
                function = as_object(call.get("function"))
                args = as_text(function.get("arguments")) or "{}"
                id, name = as_text(call.get("id")) or "", as_text(function.get("name")) or ""
                calls.append((id, name, msgspec.json.decode(args)))
        return [call for call in calls if call[0] not in answered]

    async def _answer(self, id: str, name: str, args: Json, turn: TurnContext) -> None:
        mocks = self._attempt.mocks
        if mocks is None:
            message = f"the agent called the front-end tool {name}, and nothing answers it"
            raise TargetError("mock", f"{message}: pass --mocks golden")
        try:
            result = await mocks.answer(name, args)
        except MissingMockError as error:
            if mocks.on_miss == "stop":
                raise
            text = f"error: {error}"
        else:
            if result is None:
                raise TargetError("mock", f"--on-miss live: {name} runs nowhere")
            value = result.result if result.error is None else f"error: {result.error}"
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        self._add("tool", {"toolCallId": id, "content": text}, turn, f"answer-{id}")

    def _add(self, role: str, fields: dict[str, Json], turn: TurnContext, suffix: str) -> None:
        id = f"{self._attempt.session}-{turn.index}-{suffix}"
        self._messages.append({"id": id, "role": role, **fields})


def _as_chat(message: Json) -> Json:
    """Return a message of AG-UI with the keys of a chat, which are those of the reader."""
    fields = as_object(message)
    names = {"toolCalls": "tool_calls", "toolCallId": "tool_call_id"}
    return {names.get(key, key): value for key, value in fields.items() if key != "id"}


def apply_patch(document: Json, patch: list[dict[str, Json]]) -> Json:
    """Apply the operations of a JSON Patch that change a state. Raises `TargetError`."""
    copy: Any = msgspec.json.decode(msgspec.json.encode(document))
    for change in patch:
        copy = _apply(copy, change)
    return copy


def _apply(document: Any, change: dict[str, Json]) -> Any:
    path = as_text(change.get("path")) or ""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]
    if not keys:
        return change.get("value")
    place: Any = document
    try:
        for key in keys[:-1]:
            place = place[_key(place, key)]
        _change(place, keys[-1], as_text(change.get("op")) or "", change.get("value"))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise TargetError("protocol", f"a change of the state does not fit: {path}") from error
    return document


def _key(place: Any, key: str) -> Any:
    return int(key) if isinstance(place, list) else key


def _change(place: Any, key: str, operation: str, value: Json) -> None:
    if operation == "remove":
        del place[_key(place, key)]
    elif operation not in ("add", "replace"):
        raise ValueError(operation)
    elif not isinstance(place, list):
        place[key] = value
    elif operation == "add":
        place.insert(len(place) if key == "-" else int(key), value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType] - any JSON
    else:
        place[int(key)] = value
