"""Models behind OpenAI-compatible APIs: chat completions and Responses.

The caller of these APIs executes the tools, so that Carob does it here, from tool mocks.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec

from carob.schema import Case, Json, ModelCall, TargetSettings, ToolResult, Trace, Turn, Usage
from carob.targets.http import HttpClient, check_address
from carob.targets.mocks import MissingMockError, ToolMocks
from carob.targets.target import (
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)
from carob.traces.messages.chat import chat_turns
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_object, as_text, objects_in

_CAN: frozenset[Capability] = frozenset(("calls", "results", "usage", "context", "mocks"))
_DEFAULT_URL, _DEFAULT_KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"
_MAX_STEPS = 25
"""Model calls in one turn."""


def open_chat(settings: TargetSettings) -> Target:
    """Open `chat:MODEL`."""
    return ChatTarget(settings, _ChatConversation)


def open_responses(settings: TargetSettings) -> Target:
    """Open `responses:MODEL`."""
    return ChatTarget(settings, _ResponsesConversation)


class ChatTarget:
    """A model with tools that are executed from mocks."""

    can = _CAN

    def __init__(self, settings: TargetSettings, kind: type[_ModelConversation]) -> None:
        self.name = settings.name
        self.model = settings.name.partition(":")[2]
        url = settings.url or os.environ.get("OPENAI_BASE_URL") or _DEFAULT_URL
        self.url = check_address(url, settings.name)
        if settings.key_env is None and settings.url is None and os.environ.get(_DEFAULT_KEY):
            # The default key is never sent to a URL that somebody names.
            settings = msgspec.structs.replace(settings, key_env=_DEFAULT_KEY)
        self.options = settings.options
        self.params: dict[str, Json] = {"url": self.url, **settings.options}
        self.client = HttpClient(settings)
        self._kind = kind

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Start with the instructions and the context of the case."""
        return self._kind(self, case, attempt)

    async def close(self) -> None:
        """Close all connections."""
        await self.client.close()


class _Executed(NamedTuple):
    """The result of a tool call as the model sees it."""

    text: str
    error: str | None


class _ModelConversation:
    """The part that both APIs share."""

    def __init__(self, target: ChatTarget, case: Case, attempt: Attempt) -> None:
        self._target, self._mocks = target, attempt.mocks
        self._tools = tool_definitions(target.options.get("tools"), case, attempt.mocks)
        self._system = "\n\n".join(
            text for text in (target.options.get("system"), case.context) if isinstance(text, str)
        )
        extra = as_object(target.options.get("body"))
        self._extra: dict[str, Json] = {**extra, "model": target.model}
        if (temperature := target.options.get("temperature")) is not None:
            self._extra["temperature"] = temperature

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Ask the model until it calls no more tools."""
        items: list[Json] = [{"role": "user", "content": message}]
        calls: list[ModelCall] = []
        errors: dict[str, str] = {}
        for _ in range(_MAX_STEPS):
            answer = await self._ask(items, turn)
            usage = usage_of(answer.get("usage")) or Usage()
            calls.append(ModelCall(model=as_text(answer.get("model")), usage=usage))
            wanted = self._take(answer, items)
            if not wanted:
                return self._finish(items, calls, errors)
            for call in wanted:
                executed = await self._execute(call)
                if executed.error is not None:
                    errors[call.id] = executed.error
                items.append(self._result(call, executed.text))
        raise TargetError("agent", f"the model still calls tools after {_MAX_STEPS} answers")

    async def close(self) -> Trace | None:
        """Return nothing: the replies are complete."""
        return None

    def _finish(self, items: list[Json], calls: list[ModelCall], errors: Mapping[str, str]) -> Turn:
        turn = chat_turns(items)[-1]
        results = tuple(_with_error(result, errors) for result in turn.tool_results)
        return msgspec.structs.replace(turn, model_calls=tuple(calls), tool_results=results)

    async def _execute(self, call: _Call) -> _Executed:
        if self._mocks is None:
            message = f"the model called {call.name}, and there is nothing to execute it with"
            raise TargetError("mock", f"{message}: pass --mocks golden")
        try:
            result = await self._mocks.answer(call.name, call.args)
        except MissingMockError as error:
            if self._mocks.on_miss == "stop":
                raise
            return _Executed(f"error: {error}", str(error))
        if result is None:
            raise TargetError("mock", f"--on-miss live: {call.name} runs nowhere")
        if result.error is not None:
            return _Executed(f"error: {result.error}", result.error)
        value = result.result
        return _Executed(
            value if isinstance(value, str) else msgspec.json.encode(value).decode(), None
        )

    async def _ask(self, items: list[Json], turn: TurnContext) -> dict[str, Any]:
        raise NotImplementedError

    def _take(self, answer: dict[str, Any], items: list[Json]) -> list[_Call]:
        raise NotImplementedError

    def _result(self, call: _Call, text: str) -> Json:
        raise NotImplementedError

    async def _post(self, path: str, body: dict[str, Json], turn: TurnContext) -> dict[str, Any]:
        target = self._target
        answer = await target.client.request(
            "POST",
            f"{target.url}/{path}",
            {**self._extra, **body},
            headers={"traceparent": turn.traceparent},
        )
        if not isinstance(answer.value, dict):
            raise TargetError("protocol", "the answer is not a JSON object")
        return answer.value


class _Call(NamedTuple):
    id: str
    name: str
    args: Json


def _parse_args(text: Json) -> Json:
    try:
        return msgspec.json.decode(text) if isinstance(text, str) and text else text or {}
    except msgspec.DecodeError:
        return text


def _with_error(result: ToolResult, errors: Mapping[str, str]) -> ToolResult:
    if result.id is None or result.id not in errors:
        return result
    return msgspec.structs.replace(result, error=errors[result.id])


class _ChatConversation(_ModelConversation):
    """Chat completions: the whole conversation is sent each time."""

    def __init__(self, target: ChatTarget, case: Case, attempt: Attempt) -> None:
        super().__init__(target, case, attempt)
        self._history: list[Json] = []
        if self._system:
            self._history.append({"role": "system", "content": self._system})

    async def _ask(self, items: list[Json], turn: TurnContext) -> dict[str, Any]:
        body: dict[str, Json] = {"messages": [*self._history, *items]}
        if self._tools:
            body["tools"] = [{"type": "function", "function": tool} for tool in self._tools]
        if (limit := self._target.options.get("max_tokens")) is not None:
            body["max_completion_tokens"] = limit
        return await self._post("chat/completions", body, turn)

    def _take(self, answer: dict[str, Any], items: list[Json]) -> list[_Call]:
        choice = next(iter(objects_in(answer.get("choices"))), None)
        message = as_object(choice.get("message")) if choice else {}
        if not message:
            raise TargetError("protocol", "the answer has no message")
        items.append(message)
        calls = [
            (call, as_object(call.get("function")))
            for call in objects_in(message.get("tool_calls"))
        ]
        return [
            _Call(
                as_text(call.get("id")) or "",
                as_text(function.get("name")) or "",
                _parse_args(function.get("arguments")),
            )
            for call, function in calls
        ]

    def _result(self, call: _Call, text: str) -> Json:
        return {"role": "tool", "tool_call_id": call.id, "content": text}

    def _finish(self, items: list[Json], calls: list[ModelCall], errors: Mapping[str, str]) -> Turn:
        self._history += items
        return super()._finish(items, calls, errors)


class _ResponsesConversation(_ModelConversation):
    """Responses: the server remembers the conversation."""

    def __init__(self, target: ChatTarget, case: Case, attempt: Attempt) -> None:
        super().__init__(target, case, attempt)
        self._previous: str | None = None
        self._sent = 0

    async def _ask(self, items: list[Json], turn: TurnContext) -> dict[str, Any]:
        self._sent = 0 if len(items) == 1 else self._sent
        body: dict[str, Json] = {"input": items[self._sent :]}
        if self._previous is not None:
            body["previous_response_id"] = self._previous
        if self._system:
            body["instructions"] = self._system
        if self._tools:
            body["tools"] = [{"type": "function", **tool} for tool in self._tools]
        if (limit := self._target.options.get("max_tokens")) is not None:
            body["max_output_tokens"] = limit
        return await self._post("responses", body, turn)

    def _take(self, answer: dict[str, Any], items: list[Json]) -> list[_Call]:
        error = as_text(as_object(answer.get("error")).get("message"))
        if error:
            raise TargetError("agent", error)
        self._previous = as_text(answer.get("id"))
        outputs = objects_in(answer.get("output"))
        items += outputs
        self._sent = len(items)
        return [
            _Call(
                as_text(item.get("call_id")) or "",
                as_text(item.get("name")) or "",
                _parse_args(item.get("arguments")),
            )
            for item in outputs
            if item.get("type") == "function_call"
        ]

    def _result(self, call: _Call, text: str) -> Json:
        return {"type": "function_call_output", "call_id": call.id, "output": text}


def tool_definitions(stated: Json, case: Case, mocks: ToolMocks | None) -> list[dict[str, Json]]:
    """Return the tools of the model: those of the options, or else those that the golden case and
    its mocks name, with the arguments that occur there."""
    if isinstance(stated, list):
        tools = [as_object(tool) for tool in cast("list[Json]", stated)]
        return [as_object(tool.get("function")) or _without_type(tool) for tool in tools]
    arguments: dict[str, dict[str, Json]] = {name: {} for name in case.tools or ()}
    calls = [
        *(case.tool_calls or ()),
        *(call for turn in case.turns for call in turn.tool_calls or ()),
    ]
    for call in calls:
        arguments.setdefault(call.name, {}).update(as_object(call.args))
    for result in mocks.recorded if mocks else ():
        arguments.setdefault(result.tool, {}).update(as_object(result.args))
    return [
        {
            "name": name,
            "description": f"The tool {name}.",
            "parameters": {
                "type": "object",
                "properties": {key: _schema(value) for key, value in args.items()},
            },
        }
        for name, args in arguments.items()
    ]


def _without_type(tool: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in tool.items() if key != "type"}


def _schema(value: Json) -> Json:
    kinds: list[tuple[type, str]] = [
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "array"),
        (dict, "object"),
    ]
    name = next((name for kind, name in kinds if isinstance(value, kind)), None)
    return {"type": name} if name else {}
