"""The commonest messages, OTel's parts of text and tool calls, decoded straight into their shape.

What differs in any way is left to the readers that look at shapes one by one.
"""

from __future__ import annotations

import msgspec

from carob.traces.mapping.decoding import loads
from carob.traces.messages.blocks import PRINTED
from carob.traces.messages.said import ROLES, Call, Said, role_of


class _Text(msgspec.Struct, tag_field="type", tag="text", gc=False):
    content: str


class _Reasoning(msgspec.Struct, tag_field="type", tag="reasoning", gc=False):
    pass


class _Message(msgspec.Struct, gc=False):
    role: str
    parts: list[_Text | Call | _Reasoning]
    finish_reason: str | None = None


_LOOK = (*PRINTED, "[")
"""How texts begin that need a closer look."""
_decode = msgspec.json.Decoder(list[_Message]).decode


def read(value: str) -> list[Said] | None:
    """The messages, or `None` if they are not all of this kind."""
    if value.find('"parts"', 0, 64) < 0:
        return None
    try:
        decoded = _decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    found: list[Said] = []
    for message in decoded:
        said = _said(message)
        if said is None:
            return None
        found.append(said)
    return found


def _said(message: _Message) -> Said | None:
    role = ROLES.get(message.role) or role_of(message.role)
    if role == "tool":
        return None
    said = Said(role, None, [], [], message.finish_reason)
    for part in message.parts:
        if type(part) is _Text:
            if part.content.startswith(_LOOK):
                return None
            said.add(part.content)
        elif type(part) is Call:
            if part.args == "":
                return None
            part.args = loads(part.args)
            part.id = part.id or None
            said.calls.append(part)
    return said
