"""What was said: the one shape that messages of all recorders are brought into."""

from __future__ import annotations

from typing import Literal

import msgspec

from carob.schema import Json

Role = Literal["system", "user", "assistant", "tool", "other"]


class Call(
    msgspec.Struct, tag_field="type", tag="tool_call", rename={"args": "arguments"}, gc=False
):
    """A tool call that a model asked for; `args` as they were recorded. OTel's part is one."""

    name: str
    args: Json = None
    id: str | None = None


class Result(msgspec.Struct, gc=False):
    """What a tool answered, as a message tells it."""

    id: str | None
    name: str | None
    value: Json
    error: bool


class Said(msgspec.Struct, gc=False):
    """One message. `text` is `None` where the message holds none."""

    role: Role
    text: str | None = None
    calls: list[Call] = []
    results: list[Result] = []
    finish: str | None = None
    hidden: bool = False
    """Whether something was said that the recorder left out."""

    def add(self, piece: str) -> None:
        """More text; what a user attaches in pieces is kept apart, what a model streams is not."""
        if self.text is None:
            self.text = piece
        else:
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
    "tool-response": "tool",
    "systemmessage": "system",
    "humanmessage": "user",
    "aimessage": "assistant",
    "toolmessage": "tool",
    "functionmessage": "tool",
    "toolmessagechunk": "tool",
}


def role_of(name: Json) -> Role:
    """The role behind a recorder's word for it, such as `MessageRole.USER`."""
    role = ROLES.get(name) if isinstance(name, str) else None
    if role is None and isinstance(name, str):
        role = ROLES.get(name.rsplit(".", 1)[-1].strip("'>").lower())
    return role or "other"


def last_user(said: list[Said]) -> str | None:
    """What the user said last; results of tools travel under the same role and are not it."""
    for message in reversed(said):
        if message.role == "user" and message.text is not None and not message.results:
            return message.text
    return None


def last_answer(said: list[Said]) -> str | None:
    """The last text of the assistant; empty if it spoke without any text, not if it only called."""
    empty = None
    for message in reversed(said):
        if message.role != "assistant":
            continue
        if message.text and not message.text.isspace():
            return message.text
        if not message.calls and (message.text is not None or not message.hidden):
            empty = ""
    return empty
