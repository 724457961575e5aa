"""Messages that are spread over numbered attributes, as OpenInference and OpenLLMetry do it."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from carob.schema import Json
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import CallBlock, Message, ResultBlock, Role, role_of
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.shape import decode_json

LIMIT = 10_000
"""Messages per call that are looked for."""


class Keys(NamedTuple):
    """The attribute names of one numbered message."""

    role: str
    content: str
    contents: str
    calls: str
    result_id: str
    name: str
    finish: str
    function: str
    first_content: str
    first_kind: str
    first_call: str
    piece: str


class Layout(NamedTuple):
    """How one convention spells a numbered message."""

    message: str
    content: str
    call: str
    call_name: str
    call_args: str
    function_name: str
    function_args: str
    no_args: str | None = None
    """What it means if a call's arguments are left out."""


OPENINFERENCE = Layout(
    message="message.",
    content="message_content.text",
    call="tool_call.",
    call_name="function.name",
    call_args="function.arguments",
    function_name="function_call_name",
    function_args="function_call_arguments_json",
    no_args="{}",
)
OPENLLMETRY = Layout(
    message="",
    content="text",
    call="",
    call_name="name",
    call_args="arguments",
    function_name="function_call.name",
    function_args="function_call.arguments",
)


def read_numbered(attributes: dict[str, Json], prefix: str, layout: Layout) -> list[Message] | None:
    """The messages under a prefix, or `None` if there are none."""
    found: list[Message] = []
    for index in range(LIMIT):
        keys = _keys(prefix, index, layout) if index < 64 else _spell(prefix, index, layout)
        said = _message(attributes, keys, layout)
        if said is None:
            break
        found.append(said)
    return found or None


def read_last_numbered(
    attributes: dict[str, Json], prefix: str, layout: Layout, wanted: Role
) -> list[Message] | None:
    """Enough of the messages to know what `wanted` said last."""
    at: list[int] = []
    for index in range(LIMIT):
        keys = _keys(prefix, index, layout) if index < 64 else _spell(prefix, index, layout)
        role = attributes.get(keys.role)
        if role is None:
            break
        if role_of(role) == wanted:
            at.append(index)
    for index in reversed(at):
        said = _message(attributes, _spell(prefix, index, layout), layout)
        if said is not None and said.text and not said.results:
            return [said]
    return read_numbered(attributes, prefix, layout)


def first_message_keys(prefix: str, layout: Layout) -> tuple[str, ...]:
    """The attributes of which a first message has at least one."""
    keys = _keys(prefix, 0, layout)
    return (keys.role, keys.content, keys.first_call, keys.first_kind, keys.first_content)


def _spell(prefix: str, index: int, layout: Layout) -> Keys:
    base = f"{prefix}.{index}.{layout.message}"
    return Keys(
        f"{base}role",
        f"{base}content",
        f"{base}contents.",
        f"{base}tool_calls.",
        f"{base}tool_call_id",
        f"{base}name",
        f"{base}finish_reason",
        f"{base}{layout.function_name}",
        f"{base}contents.0.{layout.content}",
        f"{base}contents.0.message_content.type",
        f"{base}tool_calls.0.{layout.call}{layout.call_name}",
        f"{base}content.0",
    )


_keys = cache(_spell)


def _message(attributes: dict[str, Json], keys: Keys, layout: Layout) -> Message | None:
    role = attributes.get(keys.role)
    content = attributes.get(keys.content)
    if role is None and content is None and not _has_more(attributes, keys):
        return None
    if content is None and keys.piece in attributes:
        content = _pieces(attributes, keys.content)
    elif content is None and (keys.first_kind in attributes or keys.first_content in attributes):
        content = _contents(attributes, keys.contents, layout)
    # A completion may leave its role unsaid; prompts do not.
    named = role_of(role) if role is not None else "assistant"
    if role == "unknown" and keys.role.startswith("gen_ai.prompt."):
        named = "tool"  # early OpenLLMetry's word for LangChain's tool messages
    if named == "tool":
        found = attributes.get(keys.result_id)
        name = attributes.get(keys.name)
        result = ResultBlock(_text(found), _text(name), plain_value(content), error=False)
        return Message(named, results=[] if content is None else [result])
    said = read_message(content, named) if content is not None else Message(named)
    said.role = named
    said.finish = _text(attributes.get(keys.finish))
    if keys.first_call in attributes or keys.function in attributes:
        _calls(said, attributes, keys, layout)
    return said


def _has_more(attributes: dict[str, Json], keys: Keys) -> bool:
    return (
        keys.first_kind in attributes
        or keys.first_content in attributes
        or keys.first_call in attributes
        or keys.piece in attributes
        or keys.function in attributes
        or keys.finish in attributes
    )


def _contents(attributes: dict[str, Json], prefix: str, layout: Layout) -> Json:
    pieces: list[Json] = []
    for index in range(LIMIT):
        piece = attributes.get(f"{prefix}{index}.{layout.content}")
        kind = attributes.get(f"{prefix}{index}.message_content.type")
        if isinstance(piece, str) and kind not in ("reasoning", "thinking"):
            pieces.append(piece)
        elif kind is None:
            break
    return pieces or None


def _pieces(attributes: dict[str, Json], prefix: str) -> Json:
    """The claude-agent-sdk instrumentation numbers the texts of one message."""
    pieces: list[Json] = []
    while isinstance(piece := attributes.get(f"{prefix}.{len(pieces)}"), str):
        pieces.append(piece)
    return pieces


def _calls(said: Message, attributes: dict[str, Json], keys: Keys, layout: Layout) -> None:
    for index in range(LIMIT):
        base = f"{keys.calls}{index}.{layout.call}"
        name = attributes.get(base + layout.call_name)
        if not isinstance(name, str):
            break
        args = attributes.get(base + layout.call_args, layout.no_args)
        said.calls.append(CallBlock(name, _args(args), _text(attributes.get(base + "id"))))
    if isinstance(name := attributes.get(keys.function), str):
        args = attributes.get(keys.function.replace(layout.function_name, layout.function_args))
        said.calls.append(CallBlock(name, _args(args), None))


def _args(value: Json) -> Json:
    return {} if value == "" else decode_json(value)


def _text(value: Json) -> str | None:
    return value if isinstance(value, str) and value else None
