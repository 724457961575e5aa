"""Letta: agent files, which hold an agent with all of its messages.

Agents of the older kinds answer with a tool, `send_message`, and what they write beside a call is
what they think.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.containers.letta import read_user_text
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import CallBlock
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_object, as_text, decode_structure, objects_in

_ANSWER = "send_message"


class LettaAgent:
    """An object with `agents`, each of which has `messages` and an `llm_config`, or one of them."""

    name = "letta-agent"

    def claims(self, item: Json) -> bool:
        return any(map(_is_agent, _agents(as_object(item))))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for agent in _agents(as_object(item)):
            messages = objects_in(agent.get("messages"))
            turns = _AgentReader(agent).read(messages).turns()
            if turns:
                yield Trace(
                    id=content_digest_id([*messages]),
                    turns=turns,
                    source=source,
                    convention="letta",
                    mapper="letta@1",
                )


def _agents(fields: dict[str, Json]) -> list[dict[str, Json]]:
    return objects_in(fields.get("agents")) or [fields]


def _is_agent(fields: dict[str, Json]) -> bool:
    messages = objects_in(fields.get("messages"))
    return "llm_config" in fields and bool(messages) and all("role" in item for item in messages)


class _AgentReader:
    """Reads the messages of one agent."""

    def __init__(self, agent: dict[str, Json]) -> None:
        self.agent = as_text(agent.get("name"))
        calls = [
            call
            for message in objects_in(agent.get("messages"))
            for call in objects_in(message.get("tool_calls"))
        ]
        self.answers_with_tool = any(
            as_object(call.get("function")).get("name") == _ANSWER for call in calls
        )
        self.sent: set[str | None] = set()
        """The ids of the calls that sent an answer."""
        self.builder = TurnBuilder()

    def read(self, messages: list[dict[str, Json]]) -> TurnBuilder:
        for message in messages:
            role = message.get("role")
            if role == "user":
                if (text := read_user_text(message.get("content"))) is not None:
                    self.builder.add_user_text(text)
            elif role in ("assistant", "approval"):
                self._add_answer(message)
            elif role == "tool":
                self._add_results(message)
            self.builder.add_time(instant(message.get("created_at")))
        return self.builder

    def _add_answer(self, message: dict[str, Json]) -> None:
        written = read_message(message, "assistant")
        self.builder.add_agent(self.agent)
        if written.text and not self.answers_with_tool:
            self.builder.add_answer(self.agent or "", written.text)
        for call in written.calls:
            self._add_call(call)

    def _add_call(self, call: CallBlock) -> None:
        args = decode_structure(call.args)
        text = as_text(as_object(args).get("message"))
        if call.name == _ANSWER and text is not None:
            self.sent.add(call.id)
            self.builder.add_answer(self.agent or "", text)
        else:
            self.builder.add_call(ToolCall(name=call.name, args=args, id=call.id, agent=self.agent))

    def _add_results(self, message: dict[str, Json]) -> None:
        returns = objects_in(message.get("tool_returns")) or [{}]
        for tool_return in returns:
            own = as_text(tool_return.get("tool_call_id"))
            key = own or as_text(message.get("tool_call_id"))
            if key in self.sent:
                continue
            content = tool_return.get("func_response") if own else message.get("content")
            failed, value = _unwrap(content, tool_return)
            reason = value if isinstance(value, str) and value else TOOL_FAILED
            error = reason if failed else None
            name = as_text(message.get("name"))
            self.builder.add_result(ToolResult(id=key, name=name, result=value, error=error))


def _unwrap(content: Json, tool_return: dict[str, Json]) -> tuple[bool, Json]:
    """Whether a tool failed, and what it returned, of the JSON that Letta puts around it."""
    text = read_message(content, "user").text
    fields = as_object(decode_structure(text))
    failed = tool_return.get("status") == "error" or fields.get("status") == "Failed"
    is_wrapped = fields.keys() >= {"status", "message"}
    return failed, decode_structure(fields.get("message") if is_wrapped else text)
