"""Codex: the rollout file of a session, one item per line, each with a time and a payload.

The payloads of `response_item` are items of the Responses API. Those of the user also hold what
Codex adds, such as the environment; the events `user_message` hold what the user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, ModelCall, Trace
from carob.traces.containers.codex_events import ToolEvent, read_tool_event
from carob.traces.containers.session_lines import SessionLines
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
    text_or_none,
)

_TYPES = frozenset(
    (
        "session_meta",
        "turn_context",
        "response_item",
        "event_msg",
        "compacted",
        "world_state",
        "token_usage_record",
    )
)
_ADDED = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions ",
    "# AGENTS.md instructions",
)
"""How texts begin that Codex writes in the user's name."""
_ERRORS = frozenset(("error", "stream_error"))
_TURN_ENDS = frozenset(("task_complete", "turn_complete"))
_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
"""The line above the output of a command."""
_MAX_HEAD = 400


class Codex(SessionLines):
    """Lines with one of Codex's types and a `payload`."""

    name: ClassVar[str] = "codex"
    convention: ClassVar[str] = "codex-session"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        return isinstance(kind, str) and kind in _TYPES and isinstance(fields.get("payload"), dict)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        metas = (as_object(line["payload"]) for line in lines if line["type"] == "session_meta")
        session = next((as_text(meta.get("id")) for meta in metas), None)
        turns = _RolloutReader(lines).builder.turns()
        if turns:
            yield self.build_trace(lines, turns, source, session=session)


class _RolloutReader:
    """Builds the turns of one session."""

    def __init__(self, lines: list[dict[str, Json]]) -> None:
        self.builder = TurnBuilder()
        self._model: str | None = None
        self._total: Json = None
        self._has_user_events = any(
            line["type"] == "event_msg" and _written_text(as_object(line["payload"]))
            for line in lines
        )
        self._asked = 0
        """How many events of the user were seen."""
        self._with_items, self._with_answers = _find_items(lines)
        items = [as_object(line["payload"]) for line in lines if line["type"] == "response_item"]
        self._called = {as_text(item.get("call_id")) for item in items} - {None}
        outputs = [item for item in items if (as_text(item.get("type")) or "").endswith("_output")]
        self._returned = {as_text(item.get("call_id")) for item in outputs}
        # The items of searches have no id that their events repeat.
        self._has_searches = any(item.get("type") == "web_search_call" for item in items)
        for line in lines:
            payload = as_object(line["payload"])
            if line["type"] == "turn_context":
                self._model = as_text(payload.get("model")) or self._model
            elif line["type"] == "response_item":
                self._add_item(payload, line.get("timestamp"))
            elif line["type"] == "event_msg":
                self._add_event(payload, line.get("timestamp"))

    def _add_item(self, payload: dict[str, Json], time: Json) -> None:
        if payload.get("role") == "user":
            text = _text_of(payload)
            if self._has_user_events or text.lstrip().startswith(_ADDED):
                return
        if payload.get("type") == "function_call_output":
            payload = payload | _read_output(payload.get("output"))
        # A tool call's status is that of the request, `completed` also for a tool that failed.
        message = {key: value for key, value in payload.items() if key not in {"status", "name"}}
        if payload.get("type") != "message":
            message["name"] = payload.get("name")
        add_chat_message(self.builder, message | {"timestamp": time})

    def _add_event(self, payload: dict[str, Json], time: Json) -> None:
        kind = payload.get("type")
        if text := _written_text(payload):
            self._asked += 1
            self.builder.add_user_text(text)
            self.builder.add_time(instant(time))
        elif kind == "agent_message" and self._asked not in self._with_answers:
            self.builder.add_answer("", _event_text(payload) or "")
            self.builder.add_time(instant(time))
            if self._asked not in self._with_items:  # events alone may lack tools that were called
                self.builder.mark_calls_unknown()
        elif as_text(kind) in _TURN_ENDS and self.builder.last_answer is None:
            if text := text_or_none(payload.get("last_agent_message")):
                self.builder.add_answer("", text)
                self.builder.add_time(instant(time))
                self.builder.mark_calls_unknown()
        elif tool := read_tool_event(payload):
            self._add_tool(tool)
        elif kind == "token_count":
            self._add_usage(as_object(payload.get("info")), time)
        elif isinstance(kind, str) and kind in _ERRORS:
            self.builder.add_error(as_text(payload.get("message")) or "the model failed")

    def _add_tool(self, tool: ToolEvent) -> None:
        """Add what no item says: usually the items have both the call and its result."""
        if tool.call.name == "web_search" and self._has_searches:
            return
        if tool.call.id is None and self._called:
            return  # it may be one of the items
        if tool.call.id not in self._called:
            self.builder.add_call(tool.call)
        if tool.call.id not in self._returned:
            self.builder.add_result(tool.result)

    def _add_usage(self, info: dict[str, Json], time: Json) -> None:
        """Add the counts of a model call; they are repeated when the rate limits change."""
        total = info.get("total_token_usage")
        if total is not None and total == self._total:
            return
        self._total = total
        if usage := usage_of(info.get("last_token_usage")):
            call = ModelCall(model=self._model, usage=usage, end=instant(time))
            self.builder.add_model_call(call)


def _find_items(lines: list[dict[str, Json]]) -> tuple[set[int], set[int]]:
    """After which events of the user there are items of the model, and which of them have answers;
    after the others, events are all that there is."""
    with_items: set[int] = set()
    with_answers: set[int] = set()
    asked = 0
    for line in lines:
        payload = as_object(line["payload"])
        if line["type"] == "event_msg" and _written_text(payload):
            asked += 1
        elif line["type"] == "response_item" and payload.get("role") != "user":
            with_items.add(asked)
            if payload.get("role") == "assistant":
                with_answers.add(asked)
    return with_items, with_answers


def _written_text(payload: dict[str, Json]) -> str | None:
    """What the user wrote, if this is the event of it. Where the text was removed from the event,
    the item of the Responses API still has it."""
    return _event_text(payload) if payload.get("type") == "user_message" else None


def _event_text(payload: dict[str, Json]) -> str | None:
    return text_or_none(first_value(payload, "message", "content"))


def _text_of(payload: dict[str, Json]) -> str:
    texts = [as_text(block.get("text")) or "" for block in objects_in(payload.get("content"))]
    return "\n".join(texts)


def _read_output(output: Json) -> dict[str, Json]:
    """The text of a result and whether a command failed.

    Older versions wrap them in JSON; newer ones write some lines above the output.
    """
    wrapped = as_object(decode_structure(output))
    if "output" in wrapped:
        code = as_object(wrapped.get("metadata")).get("exit_code")
        return {"output": wrapped["output"], "is_error": code not in (None, 0)}
    head = (as_text(output) or "")[:_MAX_HEAD].partition("Output:\n")
    code = _EXIT_CODE.search(head[0]) if head[1] else None
    return {"is_error": code is not None and code[1] != "0"}
