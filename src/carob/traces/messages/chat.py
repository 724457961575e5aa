"""Chat messages as items of a file: recognize them, and build turns from them.

`read` reads the messages themselves; this adds what a file records around each message: who wrote
it, when, and how many tokens it took.
"""

from __future__ import annotations

from carob.schema import Json, ModelCall, Turn
from carob.traces.messages.message import ROLES, Role, role_of
from carob.traces.messages.read import KINDS, read_messages
from carob.traces.messages.tool_blocks import BUILT_IN_TOOLS, CALL_TYPES, RESULT_TYPES, step_type
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import as_array, as_object, as_text, first_value, objects_in

_CONTENT_KEYS = (
    "content",
    "text",
    "tool_calls",
    "function_call",
    "parts",
    "output",
    "arguments",
    "data",
    "kwargs",
    "summary",
)
_CALL_KEYS = ("id", "call_id", *_CONTENT_KEYS)
_STEP_KEYS = ("name", "tool", "tool_name", "toolName", "input", "args", *_CALL_KEYS)
_ROLE_KEYS = (*_CONTENT_KEYS, "refusal", "blocks", "message", "reasoning_content", "tool_messages")
"""What a message with a role consists of; an object with a role and none of them is not one."""
_QUERY = ("<user_query>", "</user_query>")
_SPAN_KEYS = frozenset(("span_id", "spanId"))


def chat_role(item: dict[str, Json]) -> Role | None:
    """Return who wrote a message; `system` also for items that are not part of the dialogue."""
    name = item.get("role")
    if isinstance(name, str) and (role := role_of(name)) != "other":
        return role
    kind = item.get("type")
    if isinstance(kind, str):
        return _role_by_type(item, kind)
    return KINDS.get(as_text(item.get("kind"))) if isinstance(item.get("parts"), list) else None


def _role_by_type(item: dict[str, Json], kind: str) -> Role | None:
    """The role of LangChain's messages and of Responses items, which have a type in place of it."""
    if kind == "constructor" and isinstance(path := item.get("id"), list) and path:
        role = role_of(path[-1])
        return None if role == "other" else role
    if kind == "reasoning":
        return "system"
    if _is_tool_item(item):
        return "tool" if kind in RESULT_TYPES else "assistant"
    return "assistant" if kind == "message" else ROLES.get(kind.lower())


def _is_tool_item(item: dict[str, Json]) -> bool:
    """Whether an item is a tool call or a result; spans may have such a type as well."""
    kind = as_text(item.get("type"))
    is_tool = kind in CALL_TYPES or kind in RESULT_TYPES or kind in BUILT_IN_TOOLS
    return is_tool and _SPAN_KEYS.isdisjoint(item)


def is_message(item: Json) -> bool:
    """Whether an item looks like a chat message."""
    if not isinstance(item, dict) or "contents" in item or chat_role(item) is None:
        return False
    if (as_text(item.get("object")) or "").startswith("thread."):  # a part of an Assistants thread
        return False
    if isinstance(item.get("role"), str):
        if step_type(item) is not None:
            return any(key in item for key in _STEP_KEYS)
        return item.keys() <= {"role", "name"} or any(key in item for key in _ROLE_KEYS)
    # An activity of a bot, whose writer is not recorded.
    if isinstance(first_value(item, "from", "from_property"), dict):
        return False
    return any(key in item for key in (_CALL_KEYS if _is_tool_item(item) else _CONTENT_KEYS))


def is_dialogue(items: Json) -> bool:
    """Whether a value is a list of chat messages with a user or an assistant among them."""
    messages = as_array(items)
    return bool(messages) and all(map(is_message, messages)) and _has_speaker(messages)


def _has_speaker(items: list[Json]) -> bool:
    return any(chat_role(as_object(item)) in {"user", "assistant"} for item in items)


def chat_turns(items: Json) -> tuple[Turn, ...]:
    """Build the turns of a list of chat messages."""
    builder = TurnBuilder()
    for item in objects_in(items):
        add_chat_message(builder, item)
    return builder.turns()


def add_chat_message(
    builder: TurnBuilder, item: dict[str, Json], *, every_call: bool = False
) -> None:
    """Add one message of a file to its turn. With `every_call`, each of the agent's messages is a
    model call, also if its tokens are unknown."""
    if "content" not in item and isinstance(inner := item.get("message"), dict):  # Cursor
        item = {key: value for key, value in item.items() if key != "message"} | inner
        item["content"] = _unwrap_query(item.get("content"))
    elif "content" not in item and isinstance(text := item.get("message"), str):
        item = item | {"content": text}
    fields = _message_fields(item)
    role = chat_role(item)
    if role == "tool" and fields.get("requestor") == "user":  # tau²-bench: users call tools too
        return
    # The name of a Responses item such as `function_call` is the tool's, not the agent's.
    is_step = _is_tool_item(item) or ("role" in item and step_type(item) is not None)
    has_agent_name = role == "assistant" and not is_step
    agent = as_text(fields.get("name")) if has_agent_name else None
    for message in read_messages(item, "assistant"):
        builder.add_message(message, agent=agent)
    # After the message, because a user's message starts a turn, and its time is part of that turn.
    builder.add_time(instant(first_value(fields, "timestamp", "created_at", "createdAt")))
    if role == "assistant":
        call = _model_call(fields, agent)
        if call is not None or every_call:
            builder.add_model_call(call or ModelCall())


def _unwrap_query(content: Json) -> Json:
    """What a user of Cursor wrote, without the tag that Cursor puts around it."""
    if isinstance(content, list):
        return [
            block | {"text": _unwrap_query(block["text"])}
            if isinstance(block, dict) and "text" in block
            else block
            for block in content
        ]
    text = content.strip() if isinstance(content, str) else ""
    if text.startswith(_QUERY[0]) and text.endswith(_QUERY[1]):
        return text.removeprefix(_QUERY[0]).removesuffix(_QUERY[1]).strip()
    return content


def _message_fields(item: dict[str, Json]) -> dict[str, Json]:
    """The fields of a message, which LangChain keeps one level deeper."""
    for key in ("data", "kwargs") if "role" not in item else ():
        if isinstance(inner := item.get(key), dict):
            return inner
    return item


def _model_call(fields: dict[str, Json], agent: str | None) -> ModelCall | None:
    """The model call of a message that has its tokens."""
    metadata = as_object(fields.get("response_metadata"))
    usage = usage_of(first_value(fields, "usage", "usage_metadata"))
    usage = usage or usage_of(first_value(metadata, "token_usage", "usage"))
    model = as_text(
        first_value(fields, "model", "model_name") or first_value(metadata, "model_name", "model")
    )
    return None if usage is None else ModelCall(model=model, usage=usage, agent=agent)
