"""Messages in every shape that recorders write, made one.

The shape tells what it is, never the recorder: lists of messages, OpenAI Responses items, LangChain
constructors, choices and generations, and the wrappers around them. Conventions only say where
messages are.
"""

from __future__ import annotations

from carob.schema import Json
from carob.traces.mapping.decoding import loads
from carob.traces.messages import otel_parts
from carob.traces.messages.blocks import (
    BUILT_IN,
    CALL_TYPES,
    PRINTED_MESSAGES,
    RESULT_TYPES,
    SILENT_TYPES,
    fill,
    fill_block,
    is_block,
    printed,
    spoken,
)
from carob.traces.messages.said import ROLES, Role, Said

_KINDS: dict[Json, Role] = {"request": "user", "response": "assistant"}
_SHORT = 1000
"""Letters below which there is no history to speak of."""
DEPTH = 12
"""Wrappers within wrappers that are followed."""
_WRAPPERS = (
    "messages",
    "generations",
    "choices",
    "contents",
    "candidates",
    "chat_history",
    "message",
)
_ASKED = (
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
_ANSWERED = (
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
)


def read(value: Json, role: Role) -> list[Said]:
    """The messages in a value; bare text and bare blocks are said by `role`."""
    if isinstance(value, str) and (said := otel_parts.read(value)) is not None:
        return said
    found: list[Said] = []
    _collect(loads(value), role, found, 0)
    return found


def last(value: Json, role: Role, wanted: Role) -> list[Said]:
    """Enough of the messages to know what `wanted` said last: history is not read twice."""
    if isinstance(value, str) and len(value) < _SHORT:
        said = otel_parts.read(value)
        if said is not None:
            return said
    decoded = loads(value)
    listed = decoded.get("messages") if isinstance(decoded, dict) else decoded
    for item in reversed(listed) if isinstance(listed, list) else ():
        if not isinstance(item, dict) or (named := _named_role(item)) is None:
            break
        if named == wanted:
            found: list[Said] = []
            _collect_dict(item, role, found, 0)
            if found and found[-1].text and not found[-1].results:
                return found
    found = []
    _collect(decoded, role, found, 0)
    return found


def _named_role(item: dict[str, Json]) -> Role | None:
    name = item.get("role") or item.get("type")
    if name == "constructor" and isinstance(path := item.get("id"), list) and path:
        name = path[-1]
    return ROLES.get(name.lower()) if isinstance(name, str) else None


def _collect(value: Json, role: Role, found: list[Said], depth: int) -> None:
    if depth > DEPTH:
        return
    if isinstance(value, str):
        said = printed(value) if value.startswith(PRINTED_MESSAGES) else None
        found.append(said or Said(role, value))
    elif isinstance(value, list):
        _collect_list(value, role, found, depth)
    elif isinstance(value, dict):
        _collect_dict(value, role, found, depth)


def _collect_list(value: list[Json], role: Role, found: list[Said], depth: int) -> None:
    if value and isinstance(value[0], dict) and is_block(value[0]):
        said = Said(role)
        fill(said, value)
        found.append(said)
        return
    for item in value:
        if isinstance(item, dict):
            _collect_dict(item, role, found, depth + 1)
        else:
            _collect(loads(item), role, found, depth + 1)


def _collect_dict(value: dict[str, Json], role: Role, found: list[Said], depth: int) -> None:
    if "role" in value and ("parts" in value or "content" in value):
        found.append(spoken(value, value["role"]))
        return
    kind = value.get("type")
    if isinstance(kind, str) and _collect_typed(value, kind, found):
        return
    if "role" in value:
        found.append(spoken(value, value["role"]))
        return
    if "parts" in value:  # pydantic-ai's own messages are requests and responses
        found.append(spoken(value, _KINDS.get(value.get("kind"), role)))
        return
    if is_block(value):
        _collect_list([value], role, found, depth)
        return
    if "message" in value and isinstance(value["message"], str | dict):
        _collect(_choice(value, loads(value["message"])), role, found, depth + 1)
        return
    _collect_wrapped(value, role, found, depth)


def _collect_typed(value: dict[str, Json], kind: str, found: list[Said]) -> bool:
    """LangChain messages and Responses items, which name a type in place of a role."""
    if kind == "constructor":
        return _collect_constructor(value, found)
    if kind in CALL_TYPES or kind in RESULT_TYPES or kind in BUILT_IN:
        said = Said("tool" if kind in RESULT_TYPES else "assistant")
        fill_block(said, value)
        found.append(said)
        return True
    role = ROLES.get(kind.lower())
    if role is None:
        return kind in SILENT_TYPES
    data = value.get("data")
    if isinstance(data, dict):
        found.append(spoken(data, role))
        return True
    if "content" in value or "tool_calls" in value:
        found.append(spoken(value, role))
        return True
    return False


def _collect_constructor(value: dict[str, Json], found: list[Said]) -> bool:
    path, kwargs = value.get("id"), value.get("kwargs")
    if not (isinstance(path, list) and path and isinstance(kwargs, dict)):
        return False
    found.append(spoken(kwargs, path[-1]))
    return True


def _collect_wrapped(value: dict[str, Json], role: Role, found: list[Said], depth: int) -> None:
    if role == "assistant" and isinstance(raw := value.get("raw"), str):  # CrewAI's output
        found.append(Said(role, raw))
        return
    known = len(found)
    for key in _WRAPPERS + (_ASKED if role == "user" else _ANSWERED):
        inner = value.get(key)
        if inner is not None and inner != "":
            _collect(loads(inner), role, found, depth + 1)
            if len(found) > known:
                return


def _choice(choice: dict[str, Json], message: Json) -> Json:
    """A choice's message, which may leave its role or its text unsaid."""
    if isinstance(message, dict) and "role" not in message and "tool_calls" in message:
        return {"role": "assistant", "content": choice.get("text"), **message}
    return message
