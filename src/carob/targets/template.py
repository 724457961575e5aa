"""Any agent over HTTP, described in a TOML file: requests with placeholders, answers by path.

A file may have several steps, each a request of its own, so that agents can be chained: what one
answers is a placeholder of the next.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from carob.errors import FormatError, InputError, UsageError
from carob.schema import AgentMessage, Case, Json, Struct, TargetSettings, Trace, Turn
from carob.schema.base import prepare_type
from carob.targets.http import HttpClient, check_address, error_text
from carob.targets.json_template import check_placeholders, fill, find, parse_path
from carob.targets.replies import as_turn
from carob.targets.target import (
    FIRST_TOKENS,
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)

_ANSWERS = (
    "response",
    "tool_calls",
    "tool_results",
    "state",
    "usage",
    "model",
    "session",
    "error",
)
_CAPABILITIES: Mapping[str, Capability] = {
    "tool_calls": "calls",
    "tool_results": "results",
    "state": "state_out",
    "usage": "usage",
}
_PLACEHOLDERS: dict[str, None] = dict.fromkeys(
    ("message", "session", "state", "context", "history", "case", "turn", "steps", "options")
)


class RequestTemplate(Struct, frozen=True, forbid_unknown_fields=True):
    """One request, and where its answer is."""

    url: str = ""
    name: str | None = None
    """The agent that a step asks."""
    method: str = "POST"
    headers: dict[str, str] = {}
    body: Json = None
    answer: dict[str, str] = {}
    """Paths to the fields of a turn, the session and the error."""
    delta: str | None = None
    """The path to a piece of text in each server-sent event; the answer is a stream then."""


class TemplateFile(RequestTemplate, frozen=True, forbid_unknown_fields=True):
    """The content of a template file."""

    steps: tuple[RequestTemplate, ...] = ()
    open: RequestTemplate | None = None
    close: RequestTemplate | None = None


def open_template(settings: TargetSettings) -> Target:
    """Open `http:FILE.toml`."""
    path = Path(settings.name.partition(":")[2])
    return TemplateTarget(settings, read_template(path), str(path))


def read_template(path: Path) -> TemplateFile:
    """Read and check a template. Raises `FormatError`, `UsageError` or `InputError`."""
    try:
        document = tomllib.loads(path.read_text("utf-8"))
        template = msgspec.convert(document, prepare_type(TemplateFile))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise FormatError(str(error), where=str(path)) from error
    requests = [*template.steps] or [template]
    for request in [*requests, *filter(None, (template.open, template.close))]:
        _check(request, str(path))
    if "response" not in requests[-1].answer and requests[-1].delta is None:
        hint = 'such as [answer] response = "$.reply"'
        raise UsageError("no path to the response", where=str(path), hint=hint)
    return template


def _check(request: RequestTemplate, where: str) -> None:
    check_address(request.url.replace("{{", "").replace("}}", ""), where)
    for part in (request.url, request.body, *request.headers.values()):
        check_placeholders(part, _PLACEHOLDERS, where)
    for name, path in request.answer.items():
        if name not in _ANSWERS:
            hint = f"expected one of: {', '.join(_ANSWERS)}"
            raise UsageError(f"unknown answer {name!r}", where=where, hint=hint)
        parse_path(path, where)
    if request.delta is not None:
        parse_path(request.delta, where)


class TemplateTarget:
    """An agent that a template describes."""

    def __init__(self, settings: TargetSettings, template: TemplateFile, where: str) -> None:
        self.name = settings.name
        self.template, self.where = template, where
        self.params: dict[str, Json] = {"template": msgspec.to_builtins(template)}
        self.options = settings.options
        if settings.options:
            self.params["options"] = dict(settings.options)
        self.client = HttpClient(settings)
        self.steps = [*template.steps] or [template]
        self.can = _capabilities(template, self.steps)

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Send the opening request, if there is one."""
        conversation = _TemplateConversation(self, case, attempt)
        await conversation.start(attempt.traceparent(0))
        return conversation

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


def _capabilities(template: TemplateFile, steps: list[RequestTemplate]) -> frozenset[Capability]:
    answers = {name for step in steps for name in step.answer}
    answers |= set(template.close.answer) if template.close else set()
    can: set[Capability] = {_CAPABILITIES[name] for name in answers if name in _CAPABILITIES}
    text = msgspec.json.encode(template).decode()
    if "{{state}}" in text:
        can.add("state_in")
    if "{{context}}" in text:
        can.add("context")
    if any(step.delta for step in steps):
        can.add("stream")
    if len(steps) > 1:
        can.add("agents")
    return frozenset(can)


class _TemplateConversation:
    def __init__(self, target: TemplateTarget, case: Case, attempt: Attempt) -> None:
        self._target = target
        self._history: list[Json] = []
        self._state: dict[str, Json] | None = None
        self._first: list[Json] = []
        """Milliseconds until the first piece of each turn's streamed answer."""
        self._values: dict[str, Any] = {
            "session": attempt.session,
            "state": dict(attempt.state),
            "context": case.context,
            "case": {"id": case.id, "tags": list(case.tags), **case.metadata},
            "history": self._history,
            "message": "",
            "turn": 0,
            "steps": {},
            "options": dict(target.options),
        }

    async def start(self, traceparent: str) -> None:
        opening = self._target.template.open
        if opening:
            fields = await self._send(opening, traceparent)
            if fields.get("session") is not None:
                self._values["session"] = fields["session"]

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Send the request of each step, and take the answer of the last."""
        steps, results = self._target.steps, dict[str, Json]()
        self._values |= {"message": message, "turn": turn.index, "steps": results}
        messages: list[AgentMessage] = []
        fields: dict[str, Json] = {}
        for number, step in enumerate(steps):
            fields = await self._send(step, turn.traceparent)
            name = step.name or f"step{number + 1}"
            results[name] = {**fields}
            if number < len(steps) - 1 and isinstance(fields.get("response"), str):
                messages.append(AgentMessage(agent=name, text=str(fields["response"])))
        if fields.get("session") is not None:
            self._values["session"] = fields["session"]
        reply = as_turn({key: fields[key] for key in fields if key != "session"}, "the request")
        self._state = reply.state if reply.state is not None else self._state
        self._history.append({"role": "user", "content": message})
        self._history.append({"role": "assistant", "content": reply.turn.response or ""})
        agents = tuple(results) if len(steps) > 1 else ()
        return msgspec.structs.replace(reply.turn, messages=tuple(messages), agents=agents)

    async def close(self) -> Trace | None:
        """Send the closing request, if there is one."""
        closing = self._target.template.close
        if closing:
            state = (await self._send(closing, "")).get("state")
            self._state = state if isinstance(state, dict) else self._state
        if self._state is None and not self._first:
            return None
        attributes: dict[str, Json] = {FIRST_TOKENS: self._first} if self._first else {}
        return Trace(id="", state=self._state, attributes=attributes)

    async def _send(self, request: RequestTemplate, traceparent: str) -> dict[str, Json]:
        """Send a request, and return the fields of its answer that are there."""
        url = str(fill(request.url, self._values))
        headers = {name: str(fill(text, self._values)) for name, text in request.headers.items()}
        if traceparent:
            headers["traceparent"] = traceparent
        body = fill(request.body, self._values)
        if request.delta is not None:
            return await self._stream(request, url, body, headers)
        client = self._target.client
        answer = await client.request(request.method, url, body, headers=headers)
        return self._fields(request, answer.value)

    def _fields(self, request: RequestTemplate, value: Json) -> dict[str, Json]:
        fields = {
            name: find(value, parse_path(path, self._target.where))
            for name, path in request.answer.items()
        }
        error = fields.pop("error", None)
        if error not in (None, "", False, [], {}):  # also with HTTP 200
            text = error_text(error) or msgspec.json.encode(error).decode()
            raise TargetError("agent", self._target.client.redact(text))
        if "response" in fields and fields["response"] is None:
            message = f"the answer has nothing at {request.answer['response']}"
            raise TargetError("protocol", message)
        return {name: field for name, field in fields.items() if field is not None}

    async def _stream(
        self, request: RequestTemplate, url: str, body: Json, headers: dict[str, str]
    ) -> dict[str, Json]:
        path = parse_path(request.delta or "", self._target.where)
        pieces: list[str] = []
        fields: dict[str, Json] = {}
        started, waited = time.perf_counter(), None
        async with self._target.client.stream(url, body, headers=headers) as stream:
            async for event in stream:
                if event.data == "[DONE]":
                    break
                value = event.json()
                piece = find(value, path)
                if isinstance(piece, str):
                    if piece and not any(pieces):
                        waited = round(1000 * (time.perf_counter() - started), 1)
                    pieces.append(piece)
                fields |= self._fields(request, value)
        if not pieces:
            raise TargetError("protocol", f"no event has a text at {request.delta}")
        if request is self._target.steps[-1]:
            self._first.append(waited)
        return {**fields, "response": "".join(pieces)}
