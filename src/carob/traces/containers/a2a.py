"""A2A: the task that an agent returns to another agent, with its history and its artifacts.

A task records what was said, not how the agent worked: its tool calls are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_object, as_text, fold_keys, objects_in

_FAILED = frozenset(("failed", "rejected", "canceled"))


class A2aTask:
    """An object with a `status` that has a `state`, and a context id or the kind `task`."""

    name = "a2a"

    def claims(self, item: Json) -> bool:
        fields = fold_keys(as_object(item))
        if not isinstance(as_object(fields.get("status")).get("state"), str):
            return False
        return fields.get("kind") == "task" or "contextid" in fields

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = fold_keys(as_object(item))
        status = fold_keys(as_object(fields.get("status")))
        builder = TurnBuilder()
        builder.mark_calls_unknown()
        for message in objects_in(fields.get("history")):
            _add_message(builder, message)
        artifacts = [_text(artifact) for artifact in objects_in(fields.get("artifacts"))]
        answer = "\n".join(text for text in artifacts if text) or _text(status.get("message"))
        if answer:
            builder.add_answer("", answer)
        state = (as_text(status.get("state")) or "").removeprefix("TASK_STATE_").lower()
        if state in _FAILED:
            builder.add_error(_text(status.get("message")) or f"the task was {state}")
        builder.add_time(instant(status.get("timestamp")))
        yield Trace(
            id=as_text(fields.get("id")) or content_digest_id(item),
            turns=builder.turns(),
            source=source,
            convention="a2a",
            mapper="a2a@1",
            conversation=as_text(fields.get("contextid")),
        )


def _add_message(builder: TurnBuilder, message: dict[str, Json]) -> None:
    role = (as_text(message.get("role")) or "").removeprefix("ROLE_").lower()
    text = _text(message)
    if role == "user" and text is not None:
        builder.add_user_text(text)
        builder.mark_calls_unknown()
    elif text:
        builder.add_answer("", text)


def _text(content: Json) -> str | None:
    """The text of a message or an artifact; its files and data are not text."""
    parts = objects_in(as_object(content).get("parts"))
    texts = [text for part in parts if (text := as_text(part.get("text"))) is not None]
    return "\n".join(texts) if texts else None
