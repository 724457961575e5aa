"""A chat message in one shape, whichever shape it was recorded in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from carob.schema import Json
from carob.traces.messages.frames import (
    is_context,
    is_hand_over,
    unframe_answer,
    unframe_user,
)

Role = Literal["system", "user", "assistant", "tool", "other"]


# OTel's `tool_call` part has exactly these fields: `read` decodes such parts straight into them.
class CallBlock(
    msgspec.Struct, tag_field="type", tag="tool_call", rename={"args": "arguments"}, gc=False
):
    """A tool call that a model requests, with its arguments as they were recorded."""

    name: str
    args: Json = None
    id: str | None = None


class ResultBlock(msgspec.Struct, gc=False):
    """The result of a tool call, as a message reports it."""

    id: str | None
    name: str | None
    value: Json
    error: bool
    reason: str | None = None
    """The error text, where it is recorded beside the result."""


class Message(msgspec.Struct, gc=False):
    """A chat message. `text` is `None` if the message has no text, not even an empty one."""

    role: Role
    text: str | None = None
    calls: list[CallBlock] = []
    results: list[ResultBlock] = []
    finish: str | None = None
    hidden: bool = False
    """Whether the recorder left the content out."""
    partial: bool = False
    """Whether it had more calls than those that could be read."""
    first_length: int = 0
    """The length of the first text, if there were several."""

    def add_text(self, piece: str) -> None:
        """Append a piece of text: on a new line for users, who attach separate texts, and directly
        for models, whose answers are split in the middle of sentences (streaming, citations)."""
        if self.text is None:
            self.text = piece
        else:
            self.first_length = self.first_length or len(self.text)
            self.text += f"\n{piece}" if self.role == "user" else piece


ROLES: dict[Json, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "humanmessagechunk": "user",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "ipython": "tool",
    "tool-response": "tool",
    "assistantmessage": "assistant",
    "usermessage": "user",
    "systemmessage": "system",
    "humanmessage": "user",
    "aimessage": "assistant",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "toolmessagechunk": "tool",
}


_NAMES_OF_ROLES: dict[str, Role] = {
    "tool_response": "tool",
    "tool_result": "tool",
    "observation": "tool",
    "tool_call": "assistant",
    "function_call": "assistant",
    "agent": "assistant",
    "bot": "assistant",
    "chatbot": "assistant",
    "customer": "user",
}
"""Names of roles that as the type of an object may mean anything."""


def role_of(name: Json) -> Role:
    """Return the role for a recorder's name of it, such as `human` or `MessageRole.USER`."""
    if isinstance(name, dict):  # .NET writes {"value": "user"}
        name = name.get("value")
    if not isinstance(name, str):
        return "other"
    if role := ROLES.get(name):
        return role
    folded = name.rsplit(".", 1)[-1].strip("'>").lower()
    return ROLES.get(folded) or _NAMES_OF_ROLES.get(folded) or "other"


def last_user(messages: Sequence[Message]) -> str | None:
    """Return the user's last text: tool results also come in the user's name and are not that."""
    for message in reversed(messages):
        if message.role == "user" and message.text is not None and not message.results:
            return message.text
    return None


def asked_text(messages: Sequence[Message]) -> str | None:
    """Return the user's last text, unless it was answered: then the message after it is missing,
    and the text is the question of an earlier turn. A message of the user without a text is one
    whose text is missing, too."""
    context = None
    for message in reversed(messages):
        if message.role == "user":
            if message.results:
                continue
            if message.text is None or not is_context(message.text):
                return None if message.text is None else unframe_user(message.text)
            context = message.text
        elif message.role == "assistant":
            if message.text and not message.calls and not message.text.isspace():
                return None
        elif message.role == "other" and message.hidden:
            return None
    return context


def last_answer(messages: Sequence[Message]) -> str | None:
    """Return the assistant's last text that is not blank, of those since the user's last message:
    a run may return the whole conversation, in which earlier turns have other answers.

    Returns an empty text if the assistant only gave empty answers, and `None` if it did not answer:
    a message that only calls tools is not an answer.
    """
    empty = None
    for message in reversed(messages):
        if message.role == "user" and not message.results:
            break
        if message.role != "assistant":
            continue
        if message.text and not message.text.isspace():
            if message.calls and is_hand_over(message.text):
                continue
            return unframe_answer(message.text)
        if not message.calls and (message.text is not None or not message.hidden):
            empty = ""
    return empty
