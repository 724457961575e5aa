"""Messages that are spread over numbered attributes, as in OpenInference and OpenLLMetry."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from carob.schema import Json
from carob.traces.messages.blocks import read_message
from carob.traces.messages.frames import is_context
from carob.traces.messages.message import CallBlock, Message, ResultBlock, Role, role_of
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.normalize import DROPPED
from carob.traces.shape import decode_json, text_or_none

MAX_MESSAGES = 10_000
"""Messages, blocks or calls of one list that are read."""
_CACHED_KEYS = 64
"""Messages whose attribute names are cached; longer lists are rare."""


class _Keys(NamedTuple):
    """The attribute names of one numbered message."""

    role: str
    content: str
    contents: str
    calls: str
    result_id: str
    name: str
    finish: str
    function: str
    function_args: str
    first_content: str
    first_kind: str
    first_call: str
    first_call_id: str
    first_call_args: str
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
    """The arguments of calls that record none."""

    @staticmethod
    def is_input(key: str) -> bool:
        """Whether a key belongs to a message that a model received."""
        return key.startswith(("llm.input_messages.", "gen_ai.prompt."))


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
    """Read the messages under a prefix; `None` if there are none."""
    messages: list[Message] = []
    is_missing = False
    first = _first_left(attributes, prefix, layout) if DROPPED in attributes else 0
    if first:
        messages.append(Message("other", hidden=True))
    for index in range(first, MAX_MESSAGES):
        message = _read_message(attributes, _keys_of(prefix, index, layout), layout)
        if message is None:
            if is_missing:
                break
            is_missing = True
            continue
        if is_missing:  # a message without any attribute, and others after it
            messages.append(Message("other", hidden=True))
            is_missing = False
        messages.append(message)
    if messages and not first and DROPPED in attributes and _is_last(attributes, prefix):
        messages[-1] = Message("other", hidden=True, partial=True)
    return messages or None


# SDKs limit the attributes of a span. That of Python drops the oldest ones, and with them the first
# messages; the others drop the newest ones, in the middle of a message.
def _first_left(attributes: dict[str, Json], prefix: str, layout: Layout) -> int:
    """The first message that is whole; 0 if the first messages were not dropped."""
    if any(key in attributes for key in first_message_keys(prefix, layout)):
        return 0
    start = len(prefix) + 1
    numbers = (key[start:].partition(".")[0] for key in attributes if key.startswith(f"{prefix}."))
    return min((int(number) for number in numbers if number.isdecimal()), default=-1) + 1


def _is_last(attributes: dict[str, Json], prefix: str) -> bool:
    """Whether the last attribute that was kept is one of the messages."""
    return next(key for key in reversed(attributes) if key != DROPPED).startswith(f"{prefix}.")


def read_last_numbered(
    attributes: dict[str, Json], prefix: str, layout: Layout, text_role: Role
) -> list[Message] | None:
    """Read enough of the messages to know the last text of `text_role`."""
    # Only the roles are read at first, one lookup per message: every model call repeats the history
    # of all calls before it.
    roles = [] if DROPPED in attributes else _read_roles(attributes, prefix, layout)
    for index in reversed(range(len(roles))):
        if roles[index] != text_role:
            if roles[index] in ("user", "assistant"):
                break  # an answer after the user's last text, or the other way round
            continue
        message = _read_message(attributes, _keys_of(prefix, index, layout), layout)
        if message is None or not (message.text or message.results):
            break  # it lacks its text, and the one before it is another one
        if message.text and not message.results and not is_context(message.text):
            return [message]
    return read_numbered(attributes, prefix, layout)


def _read_roles(attributes: dict[str, Json], prefix: str, layout: Layout) -> list[Role]:
    """The roles of the messages; none if a message lacks its role."""
    roles: list[Role] = []
    for index in range(MAX_MESSAGES):
        keys = _keys_of(prefix, index, layout)
        role = attributes.get(keys.role)
        if role is None:
            following = _keys_of(prefix, index + 1, layout).role
            is_end = (
                keys.content not in attributes
                and following not in attributes
                and not _has_content(attributes, keys)
            )
            return roles if is_end else []
        roles.append(role_of(role))
    return roles


def first_message_keys(prefix: str, layout: Layout) -> tuple[str, ...]:
    """Return attributes of which a first message has at least one."""
    keys = _keys_of(prefix, 0, layout)
    return (
        keys.role,
        keys.content,
        keys.first_call,
        keys.function,
        keys.first_kind,
        keys.first_content,
    )


def _build_keys(prefix: str, index: int, layout: Layout) -> _Keys:
    base = f"{prefix}.{index}.{layout.message}"
    return _Keys(
        f"{base}role",
        f"{base}content",
        f"{base}contents.",
        f"{base}tool_calls.",
        f"{base}tool_call_id",
        f"{base}name",
        f"{base}finish_reason",
        f"{base}{layout.function_name}",
        f"{base}{layout.function_args}",
        f"{base}contents.0.{layout.content}",
        f"{base}contents.0.message_content.type",
        f"{base}tool_calls.0.{layout.call}{layout.call_name}",
        f"{base}tool_calls.0.{layout.call}id",
        f"{base}tool_calls.0.{layout.call}{layout.call_args}",
        f"{base}content.0",
    )


_cached_keys = cache(_build_keys)


def _keys_of(prefix: str, index: int, layout: Layout) -> _Keys:
    """The attribute names of a message. Building them takes longer than looking them up."""
    build = _cached_keys if index < _CACHED_KEYS else _build_keys
    return build(prefix, index, layout)


def _read_message(attributes: dict[str, Json], keys: _Keys, layout: Layout) -> Message | None:
    role = attributes.get(keys.role)
    content = attributes.get(keys.content)
    if role is None and content is None and not _has_content(attributes, keys):
        return None
    if content is None and keys.piece in attributes:
        content = _read_pieces(attributes, keys.content)
    elif content is None and (keys.first_kind in attributes or keys.first_content in attributes):
        content = _read_contents(attributes, keys.contents, layout)
    # A completion may lack a role. A prompt without one may be anybody's.
    known_role: Role = "other" if layout.is_input(keys.role) else "assistant"
    known_role = role_of(role) if role is not None else known_role
    if role == "unknown" and keys.role.startswith("gen_ai.prompt."):
        known_role = "tool"  # what early OpenLLMetry writes for LangChain's tool messages
    if known_role == "tool":
        call_id = text_or_none(attributes.get(keys.result_id))
        name = text_or_none(attributes.get(keys.name))
        result = ResultBlock(call_id, name, plain_value(content), error=False)
        return Message(known_role, results=[] if content is None else [result])
    message = read_message(content, known_role) if content is not None else Message(known_role)
    message.role = known_role
    message.finish = text_or_none(attributes.get(keys.finish))
    if (
        keys.first_call in attributes
        or keys.function in attributes
        or keys.first_call_id in attributes
        or keys.first_call_args in attributes
        or keys.function_args in attributes
    ):
        _add_calls(message, attributes, keys, layout)
    message.hidden = message.hidden or (role is None and known_role == "other")
    if content is None and not message.calls:
        message.hidden = True
    return message


def _has_content(attributes: dict[str, Json], keys: _Keys) -> bool:
    return (
        keys.first_kind in attributes
        or keys.first_content in attributes
        or keys.first_call in attributes
        or keys.piece in attributes
        or keys.function in attributes
        or keys.function_args in attributes
        or keys.finish in attributes
    )


def _read_contents(attributes: dict[str, Json], prefix: str, layout: Layout) -> Json:
    pieces: list[Json] = []
    for index in range(MAX_MESSAGES):
        piece = attributes.get(f"{prefix}{index}.{layout.content}")
        kind = attributes.get(f"{prefix}{index}.message_content.type")
        if isinstance(piece, str) and kind not in ("reasoning", "thinking"):
            pieces.append(piece)
        elif kind is None:
            break
    return pieces[0] if len(pieces) == 1 else pieces or None


def _read_pieces(attributes: dict[str, Json], prefix: str) -> Json:
    """The claude-agent-sdk instrumentation numbers the texts of one message."""
    pieces: list[Json] = []
    while isinstance(piece := attributes.get(f"{prefix}.{len(pieces)}"), str):
        pieces.append(piece)
    return pieces


def _add_calls(message: Message, attributes: dict[str, Json], keys: _Keys, layout: Layout) -> None:
    for index in range(MAX_MESSAGES):
        base = f"{keys.calls}{index}.{layout.call}"
        name = attributes.get(base + layout.call_name)
        if not isinstance(name, str):
            if base + layout.call_args in attributes or base + "id" in attributes:
                message.partial = True
                continue
            break
        args = attributes.get(base + layout.call_args, layout.no_args)
        message.calls.append(
            CallBlock(name, _args(args), text_or_none(attributes.get(base + "id")))
        )
    if isinstance(name := attributes.get(keys.function), str):
        message.calls.append(CallBlock(name, _args(attributes.get(keys.function_args)), None))
    elif keys.function_args in attributes:
        message.partial = True


def _args(value: Json) -> Json:
    args = {} if value == "" else decode_json(value)
    return decode_json(args) if isinstance(args, str) else args  # some recorders encode it twice
