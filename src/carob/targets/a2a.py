"""A2A: agents that speak the Agent2Agent protocol, versions 1.0 and 0.3, over JSON-RPC or REST."""

from __future__ import annotations

import asyncio
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

import msgspec

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
from carob.traces.containers.a2a import A2aTask
from carob.traces.shape import as_object, as_text, fold_keys, objects_in

_CAN: frozenset[Capability] = frozenset()
_CARD = ".well-known/agent-card.json"
_FIRST_POLL, _LONGEST_POLL = 0.2, 2.0
_RUNNING = ("submitted", "working", "unspecified")
_FAILED = ("failed", "rejected", "canceled", "auth_required")


def open_a2a(settings: TargetSettings) -> Target:
    """Open `a2a:http://HOST/PATH`, where the agent card is."""
    return A2aTarget(settings, check_address(settings.name.partition(":")[2], settings.name))


class _Interface(NamedTuple):
    """How to speak with an agent."""

    url: str
    version: str
    """`1.0` or `0.3`."""
    rest: bool = False


class A2aTarget:
    """An agent with an agent card."""

    can = _CAN

    def __init__(self, settings: TargetSettings, url: str) -> None:
        self.name = settings.name
        self.params: dict[str, Json] = {}
        self.client = HttpClient(settings)
        self._url = url
        self._interface: _Interface | None = None
        self._lock: asyncio.Lock | None = None

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Read the agent card, once, and start a context."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            if self._interface is None:
                url = self._url if self._url.endswith(".json") else f"{self._url}/{_CARD}"
                self._interface = choose_interface((await self.client.request("GET", url)).value)
        return _Context(self.client, self._interface, attempt)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


def choose_interface(card: Json) -> _Interface:
    """Return the newest interface of an agent card that is spoken here."""
    fields = as_object(card)
    interfaces: list[_Interface] = []
    for entry in objects_in(fields.get("supportedInterfaces")):
        binding = (as_text(entry.get("protocolBinding")) or "").upper()
        version = as_text(entry.get("protocolVersion")) or "1.0"
        url = as_text(entry.get("url"))
        if url and binding in ("JSONRPC", "HTTP+JSON"):
            rest = binding == "HTTP+JSON"
            interfaces.append(_Interface(url.rstrip("/"), version[:3], rest))
    known = [entry for entry in interfaces if entry.version in ("1.0", "0.3")]
    usable = [entry for entry in known if not (entry.rest and entry.version == "0.3")]
    if usable:
        return min(usable, key=lambda entry: (entry.version != "1.0", entry.rest))
    url = as_text(fields.get("url"))  # a card of 0.3
    transport = as_text(fields.get("preferredTransport")) or "JSONRPC"
    if url and transport.upper() == "JSONRPC":
        return _Interface(url.rstrip("/"), "0.3")
    message = "the agent card names no JSON-RPC or REST interface of version 1.0 or 0.3"
    raise TargetError("protocol", message, reached=False)


class _Context:
    """A conversation: messages with the same context id."""

    def __init__(self, client: HttpClient, interface: _Interface, attempt: Attempt) -> None:
        self._client, self._interface = client, interface
        self._seed = attempt.session
        self._context: str | None = None
        self._task: str | None = None

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Send a message, and wait for the end of its task."""
        sent = self._message(message, turn.index)
        answer = await self._call("send", {"message": sent}, turn)
        task = _task_of(answer)
        delay = _FIRST_POLL
        while task and _state(task) in _RUNNING:
            await asyncio.sleep(delay)
            delay = min(_LONGEST_POLL, 2 * delay)
            task = _task_of(await self._call("get", {"id": task.get("id")}, turn)) or task
        if task is None:
            return self._reply(answer)
        return self._task_turn(task, message)

    async def close(self) -> Trace | None:
        """Return the context id: a task has only what the replies have."""
        return Trace(id="", conversation=self._context, convention="a2a", mapper="a2a@1")

    def _message(self, text: str, index: int) -> dict[str, Json]:
        new = self._interface.version == "1.0"
        part: Json = {"text": text} if new else {"kind": "text", "text": text}
        message: dict[str, Json] = {
            "messageId": str(uuid5(NAMESPACE_URL, f"{self._seed}/{index}")),
            "role": "ROLE_USER" if new else "user",
            "parts": [part],
        }
        if not new:
            message["kind"] = "message"
        if self._context:
            message["contextId"] = self._context
        if self._task:
            message["taskId"] = self._task
        return message

    def _reply(self, answer: Json) -> Turn:
        fields = as_object(answer)
        message = as_object(fields.get("message")) or fields
        self._context = as_text(message.get("contextId")) or self._context
        self._task = None
        text = _text(message)
        if text is None:
            raise TargetError("protocol", "the answer is neither a task nor a message")
        return Turn(response=text)

    def _task_turn(self, task: dict[str, Json], message: str) -> Turn:
        state = _state(task)
        self._context = as_text(task.get("contextId")) or self._context
        self._task = as_text(task.get("id")) if state == "input_required" else None
        trace = next(A2aTask().read(task, source="task"))
        turn = trace.turns[-1] if trace.turns else Turn()
        if state in _FAILED:
            raise TargetError("agent", turn.error or f"the task was {state}")
        # The status has only the time of its last change: the client measures the turn.
        return msgspec.structs.replace(turn, user=message, start=None, end=None)

    async def _call(self, what: str, params: dict[str, Json], turn: TurnContext) -> Json:
        headers = {"traceparent": turn.traceparent}
        new = self._interface.version == "1.0"
        if new:
            headers["A2A-Version"] = "1.0"
        if self._interface.rest:
            return await self._rest(what, params, headers)
        methods = {"send": "SendMessage", "get": "GetTask"}
        if not new:
            methods = {"send": "message/send", "get": "tasks/get"}
        body: Json = {
            "jsonrpc": "2.0",
            "id": f"{self._seed}-{turn.index}",
            "method": methods[what],
            "params": params,
        }
        answer = await self._client.request("POST", self._interface.url, body, headers=headers)
        fields = as_object(answer.value)
        if "error" in fields:  # with HTTP 200
            error = as_object(fields["error"])
            text = error_text(error) or "an error without a message"
            raise TargetError("agent", self._client.redact(f"{text} ({error.get('code')})"))
        return fields.get("result")

    async def _rest(self, what: str, params: dict[str, Json], headers: dict[str, str]) -> Json:
        url = self._interface.url
        if what == "get":
            answer = await self._client.request(
                "GET", f"{url}/tasks/{params['id']}", headers=headers
            )
            return answer.value
        headers = {**headers, "Content-Type": "application/a2a+json"}
        answer = await self._client.request("POST", f"{url}/message:send", params, headers=headers)
        return answer.value


def _task_of(answer: Json) -> dict[str, Json] | None:
    fields = as_object(answer)
    task = as_object(fields.get("task"))
    if task:
        return task
    return fields if isinstance(fields.get("status"), dict) else None


def _state(task: dict[str, Json]) -> str:
    state = as_text(fold_keys(as_object(task.get("status"))).get("state")) or ""
    return state.removeprefix("TASK_STATE_").lower().replace("-", "_")


def _text(message: dict[str, Json]) -> str | None:
    texts = [as_text(part.get("text")) for part in objects_in(message.get("parts"))]
    known = [text for text in texts if text is not None]
    return "\n".join(known) if known else None
