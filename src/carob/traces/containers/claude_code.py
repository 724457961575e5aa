"""Claude Code: sessions of its projects folder, and the stream that `--output-format` prints.

A session has one object per line. A model's message is repeated over several lines, one per block,
and each repeats the token counts. What Claude Code writes in the user's name, such as the output of
a local command or the summary of a long session, is not the user's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.containers.claude_usage import count_messages, message_id
from carob.traces.containers.cursor_calls import add_cursor_call, is_cursor_call
from carob.traces.containers.session_lines import SessionLines
from carob.traces.mapping.delegation import DELEGATED_BY
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import as_object, as_text, first_value, objects_in

_WRITERS = frozenset(("user", "assistant"))
_BESIDE = frozenset(
    (
        "agent-color",
        "agent-name",
        "agent-setting",
        "ai-title",
        "attribution-snapshot",
        "bridge-session",
        "content-replacement",
        "custom-title",
        "file-history-snapshot",
        "frame-link",
        "isolation-latch",
        "last-prompt",
        "mode",
        "permission-mode",
        "pr-link",
        "progress",
        "queue-operation",
        "rate_limit_event",
        "relocated",
        "result",
        "stream_event",
        "summary",
        "tag",
        "worktree-state",
    )
)
"""Types of lines without a message; others have an id of their own."""
_OUTPUT = ("<local-command-", "<bash-stdout>", "<bash-stderr>")
_NOTES = ("[Request interrupted by user", "<task-notification>", "<system-reminder>", "Caveat: ")
_COMMAND = ("<command-name>", "<command-message>")
_TASKS = frozenset(("Task", "Agent"))
_SYNTHETIC = "<synthetic>"
"""The model of messages that Claude Code writes itself."""


class ClaudeCode(SessionLines):
    """Lines with the type of their writer and a `message`, and lines beside them."""

    name: ClassVar[str] = "claude-code"
    convention: ClassVar[str] = "claude-code-session"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        if kind in _WRITERS if isinstance(kind, str) else False:
            return isinstance(fields.get("message"), dict) and "role" not in fields
        if first_value(fields, "sessionId", "session_id", "leafUuid", "snapshot") is None:
            return False
        if is_cursor_call(fields):
            return True
        return isinstance(kind, str) and (kind in _BESIDE or "uuid" in fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for session, lines in _group_by_session(objects_in(item)).items():
            if any(isinstance(line.get("message"), dict) for line in lines):
                yield self._read_session(session, lines, source)

    def _read_session(
        self, session: str | None, items: list[dict[str, Json]], source: str
    ) -> Trace:
        lines = [
            line
            for line in _drop_left_branches(items)
            if isinstance(line.get("message"), dict) or is_cursor_call(line)
        ]
        # The file of a sub-agent has its lines only: the agent that delegates is its user.
        is_delegated = all(line.get("isSidechain") is True for line in lines)
        reader = _SessionReader(lines, count_messages(items), is_delegated=is_delegated)
        trace = self.build_trace(lines, reader.builder.turns(), source, session=session)
        if not is_delegated:
            return trace
        return msgspec.structs.replace(
            trace,
            id=as_text(lines[0].get("agentId")) or trace.id,
            conversation=None,
            attributes={DELEGATED_BY: session} if session else {},
        )


def _drop_left_branches(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The lines without the branches that the user left by going back and asking something else.

    Then two prompts follow the same line: what came after the first one is not part of the session.
    """
    prompts: dict[str, Json] = {}
    left: set[str] = set()
    for line in lines:
        parent, key = as_text(line.get("parentUuid")), as_text(line.get("uuid"))
        if parent and key and _is_prompt(line):
            if earlier := as_text(prompts.get(parent)):
                left.add(earlier)
            prompts[parent] = key
    remaining: list[dict[str, Json]] = []
    for line in lines:
        key = as_text(line.get("uuid"))
        if as_text(line.get("parentUuid")) in left and key:
            left.add(key)
        if key not in left:
            remaining.append(line)
    return remaining


def _is_prompt(line: dict[str, Json]) -> bool:
    if line.get("type") != "user" or line.get("isMeta") or line.get("isSidechain"):
        return False
    content = as_object(line.get("message")).get("content")
    return isinstance(content, str) or all(
        block.get("type") != "tool_result" for block in objects_in(content)
    )


def _group_by_session(lines: list[dict[str, Json]]) -> dict[str | None, list[dict[str, Json]]]:
    """The lines of each session; a line that names none belongs to the last one."""
    sessions: dict[str | None, list[dict[str, Json]]] = {}
    current: str | None = None
    for line in lines:
        current = as_text(first_value(line, "sessionId", "session_id")) or current
        sessions.setdefault(current, []).append(line)
    return sessions


class _SessionReader:
    """Builds the turns of one session."""

    def __init__(
        self,
        lines: Sequence[dict[str, Json]],
        counts: dict[str, Json],
        *,
        is_delegated: bool,
    ) -> None:
        self.builder = TurnBuilder()
        self._is_delegated = is_delegated
        self._command: str | None = None
        """A command that the user typed; whether the model or the program runs it, shows later."""
        self._usages = counts
        """The token counts of messages that were not added yet, by their ids."""
        self._tasks: dict[str, str] = {}
        """The names of sub-agents, by the id and the prompt of the calls that started them."""
        self._agents: dict[str, str] = {}
        """The names of sub-agents, by the ids of their lines."""
        for line in lines:
            self._add(line)

    def _add(self, line: dict[str, Json]) -> None:
        if is_cursor_call(line):
            add_cursor_call(self.builder, line)
            return
        agent = None if self._is_delegated else self._find_agent(line)
        if line.get("type") == "assistant":
            self._add_answer(line, agent)
        elif agent is not None or line.get("isMeta") or line.get("isCompactSummary"):
            self._add_results(line)
        else:
            self._add_user(line)

    def _find_agent(self, line: dict[str, Json]) -> str | None:
        """The sub-agent that wrote the line, or was asked by it; `None` for the main agent."""
        caller = as_text(line.get("parent_tool_use_id"))
        if line.get("isSidechain") is not True and caller is None:
            return None
        parent = as_text(first_value(line, "agentId", "parentUuid")) or ""
        prompt = _text_in(as_object(line["message"]).get("content")) or ""
        name = self._agents.get(parent) or self._tasks.get(caller or prompt) or "subagent"
        for key in ("agentId", "uuid"):
            if line_id := as_text(line.get(key)):
                self._agents[line_id] = name
        return name

    def _add_answer(self, line: dict[str, Json], agent: str | None) -> None:
        message = as_object(line["message"])
        self._add_command()
        if line.get("isApiErrorMessage") is True:
            self.builder.add_error(_text_in(message.get("content")) or "the model failed")
            return
        if message.get("model") == _SYNTHETIC:
            return
        for block in objects_in(message.get("content")):
            if block.get("type") == "tool_use" and as_text(block.get("name")) in _TASKS:
                self._note_task(block)
        content = message.get("content")
        if agent is not None:  # what a sub-agent says is the result of the call that started it
            content = [block for block in objects_in(content) if block.get("type") != "text"]
        self._add_message("assistant", content, line, agent)
        self._add_model_call(line, message, agent)

    def _note_task(self, block: dict[str, Json]) -> None:
        args = as_object(block.get("input"))
        name = as_text(args.get("subagent_type")) or "subagent"
        for key in (as_text(block.get("id")), as_text(args.get("prompt"))):
            if key:
                self._tasks[key] = name

    def _add_model_call(
        self, line: dict[str, Json], message: dict[str, Json], agent: str | None
    ) -> None:
        key = message_id(line)
        counts = self._usages.pop(key, None) if key else message.get("usage")
        if counts is not None:
            model = as_text(message.get("model"))
            time = instant(line.get("timestamp"))
            usage = usage_of(counts) or Usage()
            self.builder.add_model_call(ModelCall(model=model, usage=usage, agent=agent, end=time))

    def _add_user(self, line: dict[str, Json]) -> None:
        content = as_object(line["message"]).get("content")
        text = (_text_in(content) or "").strip()
        if text.startswith(_OUTPUT):  # the program ran the command: the model never saw it
            self._command = None
        elif text.startswith(_COMMAND):
            self._add_command()
            self._command = _join_command(text)
        elif text and not text.startswith(_NOTES):
            self._add_command()
            self._add_message("user", content, line, None)
        else:
            self._add_results(line)

    def _add_command(self) -> None:
        if self._command is not None:
            self.builder.add_user_text(self._command)
            self._command = None

    def _add_results(self, line: dict[str, Json]) -> None:
        """Add the tool results of a line, and no text."""
        content = objects_in(as_object(line["message"]).get("content"))
        results: list[Json] = [block for block in content if block.get("type") == "tool_result"]
        if results:
            self._add_message("user", results, line, None)

    def _add_message(
        self, role: str, content: Json, line: dict[str, Json], agent: str | None
    ) -> None:
        message: dict[str, Json] = {"role": role, "content": content, "name": agent}
        add_chat_message(self.builder, message | {"timestamp": line.get("timestamp")})


def _text_in(content: Json) -> str | None:
    if isinstance(content, str):
        return content
    texts = [as_text(block.get("text")) for block in objects_in(content)]
    return "\n".join(text for text in texts if text) or None


def _join_command(text: str) -> str:
    """What the user typed: `/review api.py` for the name and the arguments in their tags."""
    parts = (_between(text, "command-name"), _between(text, "command-args"))
    return " ".join(part for part in parts if part) or text


def _between(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()
