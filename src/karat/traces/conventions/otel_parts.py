"""The commonest messages, OTel's parts of text and tool calls, decoded straight into their shape.

What differs in any way is left to the readers that look at shapes one by one.
"""

from __future__ import annotations

import msgspec

from karat.schema import Json
from karat.traces.conventions.blocks import PRINTED
from karat.traces.conventions.decoding import loads
from karat.traces.conventions.said import Call, Said, role_of


class _Part(msgspec.Struct, gc=False):
    type: str
    content: Json = None
    name: Json = None
    id: Json = None
    arguments: Json = None


class _Message(msgspec.Struct, gc=False):
    role: str
    parts: list[_Part]
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
        said = Said(role_of(message.role), finish=message.finish_reason)
        if said.role == "tool":
            return None
        for part in message.parts:
            if not _add(said, part):
                return None
        found.append(said)
    return found


def _add(said: Said, part: _Part) -> bool:
    if part.type == "text":
        if not isinstance(part.content, str) or part.content.startswith(_LOOK):
            return False
        said.add(part.content)
        return True
    if part.type != "tool_call" or not isinstance(part.name, str):
        return part.type == "reasoning"
    if part.arguments == "" or not (part.id is None or isinstance(part.id, str)):
        return False
    said.calls.append(Call(part.name, loads(part.arguments), part.id or None))
    return True
