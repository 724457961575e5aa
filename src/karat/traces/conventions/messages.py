"""Messages in every shape that recorders write, made one.

The shape tells what it is, never the recorder: OTel parts, OpenAI chat and Responses items, Bedrock
and Anthropic blocks, Gemini contents, LangChain constructors, Vercel parts. Conventions only say
where messages are.
"""

from __future__ import annotations

from typing import Literal, TypeGuard

import msgspec

from karat.schema import Json
from karat.traces.conventions import reprs
from karat.traces.conventions.decoding import dumps, loads

Role = Literal["system", "user", "assistant", "tool", "other"]

DEPTH = 12
"""Wrappers within wrappers that are followed."""


class Call(msgspec.Struct, gc=False):
    """A tool call that a model asked for; `args` as they were recorded."""

    name: str
    args: Json
    id: str | None


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

    def add(self, piece: str) -> None:
        """More text; what a user attaches in pieces is kept apart, what a model streams is not."""
        if self.text is None:
            self.text = piece
        else:
            self.text += f"\n{piece}" if self.role == "user" else piece


_ROLES: dict[Json, Role] = {
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
_CALL_TYPES = frozenset(
    [
        "tool_call",
        "tool_use",
        "tool-call",
        "function_call",
        "server_tool_call",
        "toolCall",
        "server_tool_use",
        "mcp_call",
        "mcp_tool_use",
        "custom_tool_call",
        "dynamic-tool",
    ]
)
_RESULT_TYPES = frozenset(
    [
        "tool_call_response",
        "tool_result",
        "tool-result",
        "function_call_output",
        "tool_response",
        "tool-error",
        "server_tool_call_response",
        "mcp_tool_result",
        "custom_tool_call_output",
        "function_result",
        "web_search_tool_result",
    ]
)
_TEXT_TYPES = frozenset(("text", "input_text", "output_text", "refusal"))
_SILENT_TYPES = frozenset(
    [
        "reasoning",
        "thinking",
        "redacted_thinking",
        "blob",
        "file",
        "uri",
        "image",
        "image_url",
        "step-start",
        "audio",
        "input_image",
        "input_file",
    ]
)
_BLOCK_KEYS = ("text", "toolUse", "toolResult", "functionCall", "functionResponse", "cachePoint")
_BLOCK_TYPES = _CALL_TYPES | _RESULT_TYPES | _TEXT_TYPES | _SILENT_TYPES
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
    decoded = loads(value)
    found: list[Said] = []
    if isinstance(decoded, list) and decoded and _is_otel(decoded[0]):
        for item in decoded:
            if _is_otel(item):
                found.append(_message(item, item["role"]))
            else:
                _collect(item, role, found, 1)
    else:
        _collect(decoded, role, found, 0)
    return found


def _is_otel(item: Json) -> TypeGuard[dict[str, Json]]:
    """The commonest shape by far, and told at a glance."""
    return isinstance(item, dict) and "parts" in item and "role" in item


def last(value: Json, role: Role, wanted: Role) -> list[Said]:
    """Enough of the messages to know what `wanted` said last: history is not read twice."""
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
    return _ROLES.get(name.lower()) if isinstance(name, str) else None


def last_user(said: list[Said]) -> str | None:
    """What the user said last; results of tools travel under the same role and are not it."""
    for message in reversed(said):
        if message.role == "user" and message.text is not None and not message.results:
            return message.text
    return None


def last_answer(said: list[Said]) -> str | None:
    """The last text of the assistant; empty if it spoke without any text."""
    empty = None
    for message in reversed(said):
        if message.role != "assistant":
            continue
        if message.text and not message.text.isspace():
            return message.text
        if message.text is not None or not message.calls:
            empty = ""
    return empty


def _collect(value: Json, role: Role, found: list[Said], depth: int) -> None:
    if depth > DEPTH:
        return
    if isinstance(value, str):
        found.append(Said(role, value))
    elif isinstance(value, list):
        _collect_list(value, role, found, depth)
    elif isinstance(value, dict):
        _collect_dict(value, role, found, depth)


def _collect_list(value: list[Json], role: Role, found: list[Said], depth: int) -> None:
    if value and isinstance(value[0], dict) and _is_block(value[0]):
        said = Said(role)
        _content(said, value)
        found.append(said)
        return
    for item in value:
        if isinstance(item, dict):
            _collect_dict(item, role, found, depth + 1)
        else:
            _collect(loads(item), role, found, depth + 1)


def _collect_dict(value: dict[str, Json], role: Role, found: list[Said], depth: int) -> None:
    if "role" in value and ("parts" in value or "content" in value):
        found.append(_message(value, value["role"]))
        return
    kind = value.get("type")
    if isinstance(kind, str) and _collect_typed(value, kind, found):
        return
    if "role" in value:
        found.append(_message(value, value["role"]))
        return
    if "parts" in value:
        found.append(_message(value, role))
        return
    if _is_block(value):
        _collect_list([value], role, found, depth)
        return
    if "message" in value and isinstance(value["message"], str | dict):
        _collect(_spoken(value, loads(value["message"])), role, found, depth + 1)
        return
    _collect_wrapped(value, role, found, depth)


def _collect_typed(value: dict[str, Json], kind: str, found: list[Said]) -> bool:
    """LangChain messages and Responses items, which name a type in place of a role."""
    if kind == "constructor":
        return _collect_constructor(value, found)
    if kind in _CALL_TYPES or kind in _RESULT_TYPES:
        said = Said("assistant" if kind in _CALL_TYPES else "tool")
        _block(said, value)
        found.append(said)
        return True
    role = _ROLES.get(kind.lower())
    if role is None:
        return kind in _SILENT_TYPES
    data = value.get("data")
    if isinstance(data, dict):
        found.append(_message(data, role))
        return True
    if "content" in value or "tool_calls" in value:
        found.append(_message(value, role))
        return True
    return False


def _collect_constructor(value: dict[str, Json], found: list[Said]) -> bool:
    path, kwargs = value.get("id"), value.get("kwargs")
    if not (isinstance(path, list) and path and isinstance(kwargs, dict)):
        return False
    found.append(_message(kwargs, path[-1]))
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


def _spoken(choice: dict[str, Json], message: Json) -> Json:
    """A choice's message, which may leave its role or its text unsaid."""
    if isinstance(message, dict) and "role" not in message and "tool_calls" in message:
        return {"role": "assistant", "content": choice.get("text"), **message}
    return message


def _is_block(value: dict[str, Json]) -> bool:
    if "role" in value or "generation_info" in value or "message" in value:
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _BLOCK_TYPES and kind not in ("function_call", "function_call_output")
    return any(key in value for key in _BLOCK_KEYS) and len(value) <= 2


def message(value: Json, role: Role) -> Said:
    """One message whose role may be said outside of it."""
    if isinstance(value, dict):
        return _message(value, value.get("role") or role)
    said = Said(role)
    _content(said, value)
    return said


def role_of(name: Json) -> Role:
    """The role behind a recorder's word for it, such as `MessageRole.USER`."""
    role = _ROLES.get(name) if isinstance(name, str) else None
    if role is None and isinstance(name, str):
        role = _ROLES.get(name.rsplit(".", 1)[-1].strip("'>").lower())
    return role or "other"


def _message(value: dict[str, Json], name: Json) -> Said:
    role = role_of(name)
    said = Said(role)
    parts = value.get("parts")
    content = parts if parts is not None else value.get("content")
    if role == "tool":
        _tool_message(said, value, content)
        return said
    _content(said, content)
    calls = value.get("tool_calls")
    if calls is not None:
        _calls(said, loads(calls))
    finish = value.get("finish_reason")
    if isinstance(finish, str):
        said.finish = finish
    return said


def _tool_message(said: Said, value: dict[str, Json], content: Json) -> None:
    """A tool's answer: the content itself, or blocks that name the call that they answer."""
    if isinstance(content, dict) and ("content" in content or "message" in content):
        content = content.get("content", content.get("message"))
    blocks = loads(content)
    if isinstance(blocks, list) and any(_is_tool_block(block) for block in blocks):
        _content(said, blocks)
    else:
        said.results.append(_answered(value, content))


def _is_tool_block(block: Json) -> bool:
    if not isinstance(block, dict):
        return False
    kind = block.get("type")
    if kind in _RESULT_TYPES or kind in _CALL_TYPES:
        return True
    return "toolResult" in block or "functionResponse" in block or "function_response" in block


def _is_text(part: dict[str, Json]) -> bool:
    return part.get("type") in _TEXT_TYPES or ("text" in part and "type" not in part)


def _answered(value: dict[str, Json], content: Json) -> Result:
    return Result(
        _id(value.get("tool_call_id") or value.get("id")),
        _id(value.get("name")),
        plain(content),
        value.get("status") == "error" or value.get("is_error") is True,
    )


def plain(content: Json) -> Json:
    """The content of a tool's answer: blocks of text become text, all else stays what it is."""
    content = loads(content)
    if isinstance(content, list) and content:
        texts = [_block_text(block) for block in content]
        if all(text is not None for text in texts):
            joined = "\n".join(text for text in texts if text is not None)
            return loads(joined)
        if len(content) == 1 and isinstance(content[0], dict) and content[0].keys() == {"json"}:
            return content[0]["json"]
    return content


def _block_text(block: Json) -> str | None:
    if isinstance(block, dict) and _is_text(block):
        piece = block.get("text", block.get("content"))
        return piece if isinstance(piece, str) else None
    return None


def _content(said: Said, content: Json) -> None:
    if isinstance(content, str):
        _content_text(said, content)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                _block(said, block)
            elif isinstance(block, str):
                said.add(block)
    elif isinstance(content, dict):
        inner = content.get("parts", content.get("content", content.get("message")))
        if inner is None:
            _block(said, content)
        else:
            _content(said, inner)


def _content_text(said: Said, content: str) -> None:
    if content[:1] == "[":
        blocks = loads(content)
        if isinstance(blocks, list) and blocks:
            first = blocks[0]
            if isinstance(first, dict) and _is_block(first):
                _content(said, blocks)
                return
    if content.startswith("Response") and (call := reprs.function_call(content)):
        said.calls.append(Call(call.name, loads(call.args), call.id))
        return
    # OpenLLMetry writes an empty answer as its JSON, two quotation marks.
    said.add("" if content == '""' else content)


def _block(said: Said, block: dict[str, Json]) -> None:
    kind = block.get("type")
    if kind == "text" and isinstance(piece := block.get("content"), str):
        _content_text(said, piece) if piece.startswith("Response") else said.add(piece)
    elif kind in _SILENT_TYPES or block.get("thought") is True:
        return
    elif kind in _CALL_TYPES:
        _call(said, block)
    elif kind in _RESULT_TYPES:
        said.results.append(_result(block))
    elif isinstance(piece := block.get("text", block.get("content")), str):
        if piece.startswith("Response"):
            _content_text(said, piece)
        else:
            said.add(piece)
    elif isinstance(piece, dict | list):
        _content(said, piece)
    else:
        _provider_block(said, block)


def _provider_block(said: Said, block: dict[str, Json]) -> None:
    """Bedrock and Gemini name the block by its only key."""
    for key in ("toolUse", "functionCall", "function_call"):
        if isinstance(call := block.get(key), dict):
            _call(said, call)
    for key in ("toolResult", "functionResponse", "function_response"):
        if isinstance(answer := block.get(key), dict):
            said.results.append(_result(answer))


def _calls(said: Said, calls: Json) -> None:
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("tool_call")
            _call(said, inner if isinstance(inner, dict) else call)


def _call(said: Said, call: dict[str, Json]) -> None:
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    name = body.get("name") or body.get("toolName") or body.get("tool_name")
    if not isinstance(name, str):
        return
    found = call.get("call_id") or call.get("id") or call.get("toolCallId") or call.get("toolUseId")
    said.calls.append(Call(name, arguments(body), _id(found or call.get("tool_call_id"))))


def arguments(body: dict[str, Json]) -> Json:
    """What a model's tool call passes, under whichever word."""
    for key in ("arguments", "args", "input", "tool.args", "partial_json"):
        if (value := body.get(key)) is not None:
            return loads(value) if value != "" else {}
    return None


def _result(block: dict[str, Json]) -> Result:
    value: Json = None
    for key in ("response", "result", "output", "content", "error"):
        if key in block:
            value = block[key]
            break
    found = block.get("call_id") or block.get("tool_use_id") or block.get("toolUseId")
    found = found or block.get("id") or block.get("toolCallId") or block.get("tool_call_id")
    failed = block.get("status") == "error" or block.get("type") == "tool-error"
    failed = failed or block.get("is_error") is True or block.get("isError") is True
    return Result(_id(found), _id(block.get("name") or block.get("toolName")), plain(value), failed)


def _id(value: Json) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else dumps(value)
