"""Read messages in every shape that recorders write.

The shape decides how a value is read, never the recorder: lists of messages, OpenAI Responses
items, LangChain constructors, choices and generations, and the wrappers around them. Conventions
only say where messages are.
"""

from __future__ import annotations

import msgspec

from carob.schema import Json
from carob.schema.base import prepare_type
from carob.traces.messages import printed
from carob.traces.messages.blocks import (
    PRINTED_PREFIXES,
    SILENT_TYPES,
    add_block,
    add_content,
    is_block,
    read_message_fields,
)
from carob.traces.messages.frames import is_context
from carob.traces.messages.message import ROLES, CallBlock, Message, ResultBlock, Role, role_of
from carob.traces.messages.tool_blocks import (
    BUILT_IN_TOOLS,
    CALL_TYPES,
    RESULT_TYPES,
    add_call,
    add_calls,
    id_text,
    plain_value,
    read_result,
    step_type,
)
from carob.traces.shape import decode_json

KINDS: dict[Json, Role] = {"request": "user", "response": "assistant"}
"""The roles of pydantic-ai's own messages, by their `kind`."""
MAX_DEPTH = 12
"""Wrappers within wrappers that are followed."""
_SHORT = 1000
"""Length of a text below which it cannot hold a history worth skipping."""
_WRAPPERS = (
    "messages",
    "generations",
    "choices",
    "contents",
    "candidates",
    "chat_history",
    "message",
)
_INPUT_WRAPPERS = (
    "task",
    "user_msg",
    "user_message",
    "question",
    "query",
    "user_input",
    "user_query",
    "input",
    "inputs",
    "input_args",
    "prompt",
    "kwargs",
    "content",
    "text",
    "request",
    "new_message",
)
_OUTPUT_WRAPPERS = (
    "final_output",
    "final_answer",
    "answer",
    "output",
    "outputs",
    "replies",
    "update",
    "response",
    "result",
    "return_values",
    "content",
    "text",
    "value",
    "data",
    "kwargs",
)


def read_messages(value: Json, role: Role) -> list[Message]:
    """Read the messages in a value; text and blocks outside of a message get the given role."""
    if isinstance(value, str) and (messages := _decode_otel(value)) is not None:
        return messages
    collected: list[Message] = []
    _collect(_decode(value), role, collected, 0)
    return collected


def _decode(value: Json) -> Json:
    """Decode what may be messages. A list without any is a text that somebody wrote as JSON."""
    decoded = decode_json(value)
    if decoded is value or not isinstance(decoded, list) or len(decoded) < 2:
        return decoded
    if isinstance(decoded[0], dict):  # messages, of which there may be many
        return decoded
    has_parts = any(isinstance(decode_json(item), dict | list) for item in decoded)
    return decoded if has_parts else value


def read_last_message(value: Json, role: Role, text_role: Role) -> list[Message]:
    """Read enough of the messages to know the last text of `text_role`.

    Every model call of a run repeats the history of all calls before it. Reading all of it for
    each call makes long runs quadratic, so this starts at the end and stops at the first hit.
    """
    if isinstance(value, str) and len(value) < _SHORT:
        decoded_messages = _decode_otel(value)
        if decoded_messages is not None:
            return decoded_messages
    decoded = _decode(value)
    items = decoded.get("messages") if isinstance(decoded, dict) else decoded
    for item in reversed(items) if isinstance(items, list) else ():
        if not isinstance(item, dict) or (stated := _read_role(item)) is None:
            break
        # An answer may stand after the user's last text, and the user's last text after an answer.
        if stated in ("user", "assistant") and stated != text_role:
            break
        if stated == text_role:
            messages: list[Message] = []
            _collect_dict(item, role, messages, 0)
            last = messages[-1] if messages else None
            if last and last.text and not last.results and not is_context(last.text):
                return messages
            if text_role == "user" and not (last and (last.text or last.results)):
                break  # it lacks its text, and the one before it is another one
    messages = list[Message]()
    _collect(decoded, role, messages, 0)
    return messages


class _TextPart(msgspec.Struct, tag_field="type", tag="text", gc=False):
    content: str


class _ReasoningPart(msgspec.Struct, tag_field="type", tag="reasoning", gc=False):
    pass


class _OtelMessage(msgspec.Struct, gc=False):
    role: str
    parts: list[_TextPart | CallBlock | _ReasoningPart]
    finish_reason: str | None = None
    tool_calls: Json = None
    """What litellm writes beside the parts, as OpenAI does."""


_decode_otel_json = msgspec.json.Decoder(prepare_type(list[_OtelMessage])).decode
_UNCLEAR_PREFIXES = (*PRINTED_PREFIXES, "[")
"""How a text begins that may hold more than text."""


# The fast path for the most frequent messages, OTel parts of text and tool calls: msgspec decodes
# them straight into structs, faster than looking at the shape of each part. Anything
# else, such as results or printed objects, returns `None` and takes the general path.
def _decode_otel(value: str) -> list[Message] | None:
    if value.find('"parts"', 0, 64) < 0:
        return None
    try:
        decoded = _decode_otel_json(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    messages: list[Message] = []
    for item in decoded:
        message = _from_otel(item)
        if message is None:
            return None
        messages.append(message)
    return messages


def _from_otel(item: _OtelMessage) -> Message | None:
    role = ROLES.get(item.role) or role_of(item.role)
    if role == "tool" or item.tool_calls:
        return None
    message = Message(role, finish=item.finish_reason)
    for part in item.parts:
        if type(part) is _TextPart:
            if part.content.startswith(_UNCLEAR_PREFIXES):
                return None
            message.add_text(part.content)
        elif type(part) is CallBlock:
            if part.args == "":
                return None
            part.args = decode_json(part.args)
            part.id = part.id or None
            message.calls.append(part)
    return message


def _read_role(item: dict[str, Json]) -> Role | None:
    name = item.get("role") or item.get("type")
    if name == "constructor" and isinstance(path := item.get("id"), list) and path:
        name = path[-1]
    return ROLES.get(name.lower()) if isinstance(name, str) else None


def _collect(value: Json, role: Role, messages: list[Message], depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, str):
        if items := printed.parse_dicts(value):
            _collect_list([*items], role, messages, depth + 1)
            return
        message = _parse_printed(value) if value.startswith(_PRINTED_MESSAGES) else None
        if message is None and printed.is_printed_message(value):
            parsed = printed.parse_objects(value)
            if parsed is not None:
                _collect(parsed, role, messages, depth + 1)
                return
        messages.append(message or Message(role, value))
    elif isinstance(value, list):
        _collect_list(value, role, messages, depth)
    elif isinstance(value, dict):
        _collect_dict(value, role, messages, depth)


def _collect_list(value: list[Json], role: Role, messages: list[Message], depth: int) -> None:
    if value and isinstance(value[0], dict) and is_block(value[0]):
        message = Message(role)
        add_content(message, value)
        messages.append(message)
        return
    for item in value:
        if isinstance(item, dict):
            _collect_dict(item, role, messages, depth + 1)
            if messages and messages[-1].role == "other" and messages[-1].text is not None:
                _name_tool(item.get("role"), messages)
        else:
            _collect(decode_json(item), role, messages, depth + 1)


def _name_tool(role: Json, messages: list[Message]) -> None:
    """Read the last message as a result, if its role is the name of a tool that was called before:
    that is how Langfuse's handler for LangChain.js writes results."""
    last = messages[-1]
    if any(call.name == role for message in messages for call in message.calls):
        result = ResultBlock(None, id_text(role), plain_value(last.text), False)
        messages[-1] = Message("tool", results=[result])


def _collect_dict(value: dict[str, Json], role: Role, messages: list[Message], depth: int) -> None:
    if "role" in value and (step := step_type(value)) is not None:
        _collect_step(value, step, messages)
        return
    if "role" in value and ("parts" in value or "content" in value):
        messages.append(read_message_fields(value, value["role"]))
        return
    kind = value.get("type")
    if isinstance(kind, str) and _collect_typed(value, kind, messages):
        return
    if "role" in value:
        messages.append(read_message_fields(value, value["role"]))
        return
    if "parts" in value:
        messages.append(read_message_fields(value, KINDS.get(value.get("kind"), role)))
        return
    if is_block(value):
        _collect_list([value], role, messages, depth)
        return
    if "message" in value and isinstance(value["message"], str | dict):
        _collect(_choice(value, decode_json(value["message"])), role, messages, depth + 1)
        return
    _collect_wrapped(value, role, messages, depth)


def _collect_step(value: dict[str, Json], kind: str, messages: list[Message]) -> None:
    """A message that is a tool call or a result, whatever its role; a thought is no message."""
    if kind in RESULT_TYPES:
        messages.append(Message("tool", results=[read_result(value)]))
    elif kind in CALL_TYPES:
        message = Message("assistant")
        # Training data has the call as JSON in the content.
        content = decode_json(value.get("content"))
        inner = content if isinstance(content, list) else [content]
        add_calls(message, [call for call in inner if isinstance(call, dict) and "name" in call])
        if not message.calls:
            add_call(message, value)
        message.partial = not message.calls
        messages.append(message)


def _collect_typed(value: dict[str, Json], kind: str, messages: list[Message]) -> bool:
    """LangChain messages and Responses items, which name a type in place of a role."""
    if kind == "constructor":
        return _collect_constructor(value, messages)
    if kind in CALL_TYPES or kind in RESULT_TYPES or kind in BUILT_IN_TOOLS:
        message = Message("tool" if kind in RESULT_TYPES else "assistant")
        add_block(message, value)
        messages.append(message)
        return True
    role = ROLES.get(kind.lower())
    if role is None:
        return kind in SILENT_TYPES
    data = value.get("data")
    if isinstance(data, dict):
        messages.append(read_message_fields(data, role))
        return True
    if "content" in value or "tool_calls" in value or "text" in value or "parts" in value:
        messages.append(read_message_fields(value, role))
        return True
    return False


def _collect_constructor(value: dict[str, Json], messages: list[Message]) -> bool:
    path, kwargs = value.get("id"), value.get("kwargs")
    if not (isinstance(path, list) and path and isinstance(kwargs, dict)):
        return False
    messages.append(read_message_fields(kwargs, path[-1]))
    return True


def _collect_wrapped(
    value: dict[str, Json], role: Role, messages: list[Message], depth: int
) -> None:
    if role == "assistant" and isinstance(raw := value.get("raw"), str):  # CrewAI's output
        messages.append(Message(role, raw))
        return
    args = value.get("args")
    if role == "user" and isinstance(args, list) and len(args) == 1 and not value.get("kwargs"):
        value = {"input": args[0]}  # a decorated function, such as Langfuse's @observe
    count_before = len(messages)
    for key in _WRAPPERS + (_INPUT_WRAPPERS if role == "user" else _OUTPUT_WRAPPERS):
        inner = value.get(key)
        if inner is not None and inner != "":
            _collect(_decode(inner), role, messages, depth + 1)
            if len(messages) > count_before:
                return


def _choice(choice: dict[str, Json], message: Json) -> Json:
    """The message of a choice, which may lack its role or its text."""
    if isinstance(message, dict) and "role" not in message and "tool_calls" in message:
        return {"role": "assistant", "content": choice.get("text"), **message}
    return message


_PRINTED_MESSAGES = ("content=", "ChatMessage(")
"""How messages begin that LangChain or Haystack printed in place of serializing them."""


def _parse_printed(text: str) -> Message | None:
    if text.startswith("ChatMessage("):
        content = printed.parse_haystack_message(text)
        return None if content is None else _read_haystack(content)
    fields = printed.parse_langchain_message(text)
    if fields is None:
        return None
    message = Message(role_of(fields.role))
    if message.role == "tool":
        result = ResultBlock(fields.id, fields.name, plain_value(fields.content), fields.failed)
        message.results.append(result)
        return message
    add_content(message, fields.content)
    add_calls(message, fields.calls)
    return message


def _read_haystack(fields: dict[str, Json]) -> Message:
    message = Message(role_of(fields.get("role")))
    content = fields.get("content")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and isinstance(origin := part.get("origin"), dict):
            name, value = id_text(origin.get("tool_name")), plain_value(part.get("result"))
            failed = bool(part.get("error"))
            message.results.append(ResultBlock(id_text(origin.get("id")), name, value, failed))
        elif isinstance(part, dict) and "tool_name" in part:
            add_call(message, part)
        elif isinstance(part, dict | str):
            add_content(message, part.get("text") if isinstance(part, dict) else part)
    return message
