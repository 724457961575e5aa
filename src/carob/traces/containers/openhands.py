"""OpenHands: the events of a conversation, of both versions, and evaluation outputs around them.

Before 1.0 an event has an `action` or an `observation`, which names the action that it answers as
its cause. Since 1.0 it has a `kind`, and the id of the tool call.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.blocks import read_message
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_array,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_NOT_TOOLS = frozenset(
    ("message", "system", "recall", "change_agent_state", "think", "condensation", "null", "")
)
_NOT_ARGUMENTS = frozenset(("kind", "summary", "security_risk"))
_FINISH = "finish"
_KINDS = frozenset(
    (
        "MessageEvent",
        "ActionEvent",
        "ObservationEvent",
        "AgentErrorEvent",
        "SystemPromptEvent",
        "UserRejectObservation",
        "ConversationStateUpdateEvent",
        "ConversationErrorEvent",
        "Condensation",
        "PauseEvent",
        "TokenEvent",
    )
)


class OpenHands:
    """Events in a list, one per line, or as the `history` of an evaluated instance."""

    name = "openhands"

    def claims(self, item: Json) -> bool:
        events = as_array(item) or as_array(as_object(item).get("history"))
        return bool(events) and all(map(self.claims_line, events))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("kind")
        if isinstance(kind, str) and kind in _KINDS:
            return True
        is_event = isinstance(fields.get("source"), str) and "id" in fields
        return is_event and ("args" in fields if "action" in fields else "observation" in fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        events = objects_in(item) or objects_in(fields.get("history"))
        case = as_text(fields.get("instance_id"))
        turns = _ConversationReader(events).builder.turns()
        if turns:
            yield Trace(
                id=case or content_digest_id([*events]),
                turns=turns,
                source=source,
                convention="openhands",
                mapper="openhands@1",
                case=case,
            )


class _ConversationReader:
    """Builds the turns of one conversation."""

    def __init__(self, events: list[dict[str, Json]]) -> None:
        self.builder = TurnBuilder()
        self._calls: dict[str, str] = {}
        """The ids of calls by the ids of the events that made them."""
        self._counts: Json = None
        for event in events:
            self._add_kind(event) if "kind" in event else self._add_old(event)
            self.builder.add_time(instant(event.get("timestamp")))
            metrics = as_object(event.get("llm_metrics"))
            self._counts = first_value(metrics, "accumulated_token_usage") or self._counts
        if usage := usage_of(self._counts):  # the last event has the counts of all
            model = as_text(as_object(self._counts).get("model"))
            self.builder.add_model_call(ModelCall(model=model, usage=usage))

    def _add_kind(self, event: dict[str, Json]) -> None:
        kind, key = event["kind"], as_text(event.get("tool_call_id"))
        if kind == "MessageEvent":
            message = as_object(event.get("llm_message")) or event
            self._add_text(event.get("source"), read_message(message.get("content"), "user").text)
        elif kind == "ActionEvent":
            action = as_object(event.get("action"))
            args = _arguments(as_object(event.get("tool_call")), action)
            name = as_text(event.get("tool_name")) or as_text(action.get("kind")) or ""
            self._add_action(name, args, key, as_text(action.get("message")))
        elif kind == "ObservationEvent" and event.get("tool_name") != _FINISH:
            result = as_object(event.get("observation"))
            value = plain_value(first_value(result or event, "content", "output"))
            self._add_result(key, value, failed=result.get("is_error") is True)
        elif kind == "AgentErrorEvent":
            self._add_result(key, event.get("error"), failed=True)

    def _add_old(self, event: dict[str, Json]) -> None:
        args = as_object(event.get("args"))
        action = as_text(event.get("action"))
        if action is None:
            key = self._calls.get(as_text(event.get("cause")) or "")
            if key is not None:
                extras = as_object(event.get("extras"))
                code = as_object(extras.get("metadata")).get("exit_code")
                failed = event.get("observation") == "error" or code not in (None, 0, -1)
                self._add_result(key, decode_structure(event.get("content")), failed=failed)
        elif action == "message":
            self._add_text(event.get("source"), as_text(args.get("content")))
        elif action not in _NOT_TOOLS:
            call = as_object(event.get("tool_call_metadata"))
            name = as_text(call.get("function_name")) or action
            event_id = as_text(event.get("id")) or ""
            key = as_text(call.get("tool_call_id")) or f"event-{event_id}"
            self._calls[event_id] = key
            inner = {name: value for name, value in args.items() if name != "thought"}
            self._add_action(name, inner, key, as_text(args.get("final_thought")))

    def _add_text(self, writer: Json, text: str | None) -> None:
        if writer == "user" and text is not None:
            self.builder.add_user_text(text)
        elif writer == "agent" and text:
            self.builder.add_answer("", text)

    def _add_action(self, name: str, args: Json, key: str | None, answer: str | None) -> None:
        if name == _FINISH:  # how the agent answers, and no tool
            if answer:
                self.builder.add_answer("", answer)
            return
        self.builder.add_call(ToolCall(name=name, args=args, id=key))

    def _add_result(self, key: str | None, value: Json, *, failed: bool) -> None:
        reason = value if isinstance(value, str) and value else TOOL_FAILED
        error = reason if failed else None
        self.builder.add_result(ToolResult(id=key, result=value, error=error))


def _arguments(call: dict[str, Json], action: dict[str, Json]) -> dict[str, Json] | None:
    """What the model passed, without what OpenHands asks for in every call; else the action, which
    also has the defaults of what was not passed."""
    passed = decode_structure(call.get("arguments"))
    args = passed if isinstance(passed, dict) else action
    if not args and not call:
        return None
    return {name: value for name, value in args.items() if name not in _NOT_ARGUMENTS}
