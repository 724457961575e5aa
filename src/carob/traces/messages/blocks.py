"""One message from its content, whichever blocks the content consists of.

OTel parts, OpenAI and Anthropic content, Bedrock and Gemini blocks, Vercel, pydantic-ai and Agent
Framework parts are distinguished by their shape.
"""

from __future__ import annotations

from carob.schema import Json
from carob.traces.messages import printed
from carob.traces.messages.message import CallBlock, Message, Role, role_of
from carob.traces.messages.tool_blocks import (
    BUILT_IN_TOOLS,
    CALL_TYPES,
    RESULT_TYPES,
    TEXT_TYPES,
    add_call,
    add_calls,
    add_keyed_block,
    block_type,
    is_openai_call,
    is_tool_block,
    read_result,
    read_tool_message,
)
from carob.traces.shape import decode_json, parse_literal, to_text

PRINTED_PREFIXES = ("Response", "{'")
"""How a text begins that may be a printed tool call or a printed message."""
SILENT_TYPES = frozenset(
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
        "compaction",
        "system-prompt",
    ]
)
"""Blocks that are neither text nor tool calls."""
_CONTENT_KEYS = (
    "content",
    "parts",
    "tool_calls",
    "function_call",
    "refusal",
    "blocks",
    "contents",
    "text",
)
_BLOCK_KEYS = (
    "text",
    "toolUse",
    "toolResult",
    "functionCall",
    "functionResponse",
    "cachePoint",
    "toolRequest",
    "toolResponse",
)
_VERCEL_CALL = frozenset(("toolCallId", "toolName"))
"""The keys of Vercel's calls, which have no type outside of a message."""
_BLOCK_TYPES = CALL_TYPES | RESULT_TYPES | TEXT_TYPES | SILENT_TYPES


def read_message(value: Json, role: Role) -> Message:
    """Read one message; `role` applies if the message does not name its own."""
    if isinstance(value, dict):
        return read_message_fields(value, value.get("role") or role)
    message = Message(role)
    add_content(message, value)
    return message


def read_message_fields(value: dict[str, Json], role_name: Json) -> Message:
    """Read one message from its fields."""
    role = role_of(role_name)
    message = Message(role)
    content = value.get("parts")
    if content is None:
        content = value.get("content", value.get("blocks"))
        if content is None:
            content = value.get("contents", value.get("text"))
    if role == "tool":
        _add_tool_message(message, value, content)
        return message
    if content is None:
        message.hidden = value.keys().isdisjoint(_CONTENT_KEYS)
    else:
        add_content(message, content)
    calls = value.get("tool_calls")
    if not calls and isinstance(more := value.get("additional_kwargs"), dict):
        calls = more.get("tool_calls")
    if calls is not None:
        add_calls(message, decode_json(calls))
    if invalid := value.get("invalid_tool_calls"):  # LangChain's, whose arguments are not JSON
        add_calls(message, invalid)
    if not message.calls and isinstance(call := value.get("function_call"), dict):
        add_call(message, call)  # OpenAI's API before tools
    finish = value.get("finish_reason")
    if isinstance(finish, str):
        message.finish = finish
    return message


def _add_tool_message(message: Message, value: dict[str, Json], content: Json) -> None:
    """A tool's answer: the content itself, or blocks that name the calls that they answer."""
    if isinstance(several := value.get("tool_messages"), list):  # tau²-bench
        for inner in several:
            if isinstance(inner, dict):
                message.results.append(read_tool_message(inner, inner.get("content")))
        return
    if isinstance(content, dict) and ("content" in content or "message" in content):
        content = content.get("content", content.get("message"))
    blocks = decode_json(content)
    if isinstance(blocks, dict) and blocks.get("type") == "function" and "function" in blocks:
        return  # Langfuse's handler for LangChain lists the available tools among the messages
    if isinstance(blocks, list) and any(is_tool_block(block) for block in blocks):
        add_content(message, blocks)
    else:
        message.results.append(read_tool_message(value, content))


def add_content(message: Message, content: Json) -> None:
    """Add content of any shape: a text, a block, or a list of both."""
    if isinstance(content, str):
        _add_text(message, content)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                add_block(message, block)
            elif isinstance(block, str):
                message.add_text(block)
    elif isinstance(content, dict):
        inner = content.get("parts", content.get("content", content.get("message")))
        inner = content.get("value") if inner is None else inner  # OpenAI's threads
        if inner is None:
            add_block(message, content)
        else:
            add_content(message, inner)


def _add_text(message: Message, text: str) -> None:
    if text[:1] == "[":
        blocks = decode_json(text)
        if isinstance(blocks, list) and blocks:
            first = blocks[0]
            if isinstance(first, dict) and is_block(first):
                add_content(message, blocks)
                return
    if text.startswith("Response") and (call := printed.parse_function_call(text)):
        message.calls.append(CallBlock(call.name, decode_json(call.args), call.id))
        return
    for item in (dicts := printed.parse_dicts(text)):
        add_content(message, item.get("content"))
        add_calls(message, item.get("tool_calls"))
    if dicts:
        return
    value = parse_literal(text) if text.startswith("{'") else None
    if isinstance(value, dict) and block_type(value) in TEXT_TYPES and "text" in value:
        message.add_text(to_text(value["text"]))
        return
    # OpenLLMetry writes an empty answer as its JSON, two quotation marks.
    message.add_text("" if text == '""' else text)


def add_block(message: Message, block: dict[str, Json]) -> None:
    """Add one block of content."""
    kind = block_type(block)
    if kind == "text" and isinstance(text := block.get("content"), str):
        _add_text(message, text) if text.startswith(PRINTED_PREFIXES) else message.add_text(text)
    elif len(block) == 1 and kind in TEXT_TYPES:
        message.hidden = True
    elif kind in SILENT_TYPES or block.get("thought") is True:
        return
    elif kind in CALL_TYPES or kind in BUILT_IN_TOOLS:
        add_call(message, block)
    elif kind in RESULT_TYPES:
        message.results.append(read_result(block))
    elif (kind is None and block.keys() >= _VERCEL_CALL) or is_openai_call(block):
        add_call(message, block)
    elif isinstance(text := block.get("text", block.get("content")), str):
        if text.startswith(PRINTED_PREFIXES):
            _add_text(message, text)
        else:
            message.add_text(text)
    elif isinstance(text, dict | list):
        add_content(message, text)
    else:
        add_keyed_block(message, block)


def is_block(value: dict[str, Json]) -> bool:
    """Whether an object is a block of content rather than a message or a wrapper around some.

    Responses items such as `function_call` stand beside messages, so they are not blocks.
    """
    if "role" in value or "generation_info" in value or "message" in value:
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _BLOCK_TYPES and kind not in ("function_call", "function_call_output")
    if value.keys() >= _VERCEL_CALL:
        return True
    return any(key in value for key in _BLOCK_KEYS) and len(value) <= 2
