"""Tool calls and tool results inside messages, in the block shapes of every provider."""

from __future__ import annotations

import re

from carob.schema import Json
from carob.traces.messages.message import CallBlock, Message, ResultBlock
from carob.traces.shape import decode_json, to_text

CALL_TYPES = frozenset(
    [
        "tool_call",
        "tool_use",
        "tool-call",
        "function_call",
        "functionCall",
        "server_tool_call",
        "toolCall",
        "server_tool_use",
        "mcp_call",
        "mcp_tool_use",
        "custom_tool_call",
        "dynamic-tool",
    ]
)
RESULT_TYPES = frozenset(
    [
        "tool_call_response",
        "tool_result",
        "tool-result",
        "tool-return",
        "retry-prompt",
        "function_call_output",
        "tool_response",
        "tool-error",
        "server_tool_call_response",
        "mcp_tool_result",
        "custom_tool_call_output",
        "tool_call_output",
        "function_result",
        "functionResult",
        "web_search_tool_result",
    ]
)
BUILT_IN_TOOLS: dict[Json, str] = {
    f"{name}_call": name
    for name in (
        "code_interpreter",
        "computer",
        "file_search",
        "image_generation",
        "local_shell",
        "web_search",
    )
}
"""OpenAI's own tools by the types of their calls; such a call also carries the result."""
REASONING_TYPES = frozenset(("reasoning", "thinking", "redacted_thinking"))
TEXT_TYPES = frozenset(("text", "input_text", "output_text", "refusal"))
_TOOL_WORD = re.compile("tool|call|function", re.IGNORECASE)
_CALL_KEYS = ("toolUse", "functionCall", "function_call", "toolRequest")
_RESULT_KEYS = ("toolResult", "functionResponse", "function_response", "toolResponse")


def block_type(block: dict[str, Json]) -> str | None:
    """Return the type of a block; pydantic-ai, .NET and LlamaIndex have their own key for it."""
    kind = block.get("type")
    if kind is None:
        kind = block.get("part_kind", block.get("$type", block.get("block_type")))
    return kind if isinstance(kind, str) else None


def step_type(message: dict[str, Json]) -> str | None:
    """Return the type of a message that is a tool call, a result or a thought of its own.

    Logs write one row per step, with the role of who did it beside: the name of such a row is the
    tool's, and its content is no answer.
    """
    for key in ("type", "kind", "role"):
        kind = message.get(key)
        if isinstance(kind, str) and kind in _STEP_TYPES:
            return kind
    return None


_STEP_TYPES = CALL_TYPES | RESULT_TYPES | REASONING_TYPES


def is_tool_block(block: Json) -> bool:
    """Whether a block is a tool call or a tool result."""
    if not isinstance(block, dict):
        return False
    kind = block_type(block)
    if kind in RESULT_TYPES or kind in CALL_TYPES:
        return True
    return any(key in block for key in _RESULT_KEYS)


def is_openai_call(block: dict[str, Json]) -> bool:
    """Whether a block is an item of OpenAI's `tool_calls`, which Langtrace writes as content; the
    definition of a tool has the same type, but no arguments."""
    function = block.get("function")
    return (
        block.get("type") == "function" and isinstance(function, dict) and "arguments" in function
    )


def add_keyed_block(message: Message, block: dict[str, Json]) -> None:
    """Add a block of Bedrock or Gemini, whose only key is its type, or a part of Vercel's UI."""
    kind = block_type(block)
    invocation = block.get("toolInvocation")
    part = invocation if isinstance(invocation, dict) else block
    if "state" in part and "toolCallId" in part and (kind or "").startswith("tool-"):
        add_ui_part(message, part)
        return
    for key in _CALL_KEYS:
        if isinstance(call := block.get(key), dict):
            add_call(message, call)
    for key in _RESULT_KEYS:
        if isinstance(result := block.get(key), dict):
            message.results.append(read_result(result))
    # A block of a kind that is not known may be a call: a turn without calls would be a lie.
    if kind is not None and _TOOL_WORD.search(kind):
        message.partial = True


def add_calls(message: Message, calls: Json) -> None:
    """Add the tool calls of a list such as `tool_calls`."""
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("tool_call")
            add_call(message, inner if isinstance(inner, dict) else call)


def add_call(message: Message, call: dict[str, Json]) -> None:
    """Add one tool call."""
    if block_type(call) == "dynamic-tool" and "state" in call:
        add_ui_part(message, call)
        return
    if isinstance(inner := call.get("content"), dict):  # Azure's part around a call
        call = inner
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    name = tool_name(body)
    if name is None:
        _add_built_in(message, call)
        return
    key = id_text(_stated_call_id(call) or call.get("id"))
    # LangChain records the calls of Bedrock and Anthropic models twice: as blocks of the content
    # and in `tool_calls` beside it. Calls without an id cannot be recognized as the same.
    if key is None or not any(
        earlier.id == key and earlier.name == name for earlier in message.calls
    ):
        message.calls.append(CallBlock(name, call_arguments(body), key))


def tool_name(fields: dict[str, Json]) -> str | None:
    """Return the name of the tool that a call or a result states."""
    for key in ("name", "toolName", "tool_name", "tool"):
        if (name := fields.get(key)) and isinstance(name, str):
            return name
    return None


def _stated_call_id(fields: dict[str, Json]) -> Json:
    """The id of a call under a name that means nothing else: `id` may be that of a message."""
    for key in _CALL_IDS:
        if call_id := fields.get(key):
            return call_id
    return None


_CALL_IDS = (
    "call_id",
    "tool_use_id",
    "toolUseId",
    "toolCallId",
    "tool_call_id",
    "callId",
    "ref",
)


def _add_built_in(message: Message, call: dict[str, Json]) -> None:
    kind = block_type(call)
    inner = call.get(kind) if kind else None  # Azure's run steps: {"type": "x", "x": {…}}
    name, body = (kind, inner) if isinstance(inner, dict) else (BUILT_IN_TOOLS.get(kind), call)
    if name is None:
        return
    args = {key: body[key] for key in ("code", "input", "queries") if body.get(key) is not None}
    key = id_text(call.get("id"))
    message.calls.append(CallBlock(name, args or _without_type(body.get("action")) or {}, key))
    value = body.get("outputs", body.get("results"))
    if value is not None:
        message.results.append(ResultBlock(key, name, plain_value(value), error=False))


def add_ui_part(message: Message, part: dict[str, Json]) -> None:
    """Add a call of Vercel's UI messages, which has its result in the same part, and the name of
    the tool in its type: `tool-find`."""
    stated = part.get("toolName")
    name = stated if isinstance(stated, str) else (block_type(part) or "").removeprefix("tool-")
    key, state = id_text(part.get("toolCallId")), part.get("state")
    message.calls.append(CallBlock(name, call_arguments(part), key))
    if state in ("output-available", "result"):
        value = plain_value(part.get("output", part.get("result")))
        message.results.append(ResultBlock(key, name, value, error=False))
    elif state == "output-error":
        reason = id_text(part.get("errorText"))
        message.results.append(ResultBlock(key, name, None, error=True, reason=reason))


def call_arguments(body: dict[str, Json]) -> Json:
    """Return the arguments of a tool call, decoded; `None` if they are not recorded."""
    for key in _ARGUMENTS:
        if (value := body.get(key)) is not None:
            return decode_json(value) if value != "" else {}
    return _without_type(body.get("server_tool_call"))


_ARGUMENTS = (
    "arguments",
    "args",
    "input",
    "tool.args",
    "partial_json",
    "tool_kwargs",
    "parameters",
)


def _without_type(value: Json) -> Json:
    """A provider's own call or result without the `type` that repeats the tool's name."""
    if not isinstance(value, dict):
        return value
    return {key: inner for key, inner in value.items() if key != "type"}


def read_result(block: dict[str, Json]) -> ResultBlock:
    """Read a block that holds the result of a tool call."""
    kind = block_type(block)
    if kind == "tool_call_output" and isinstance(inner := block.get("content"), dict):
        block = inner
    value = _without_type(block.get("server_tool_call_response"))
    for key in ("response", "result", "output", "content", "error"):
        if key in block:
            value = block[key]
            break
    failed = block.get("status") == "error" or block_type(block) in ("tool-error", "retry-prompt")
    failed = failed or block.get("is_error") is True or block.get("isError") is True
    if isinstance(value, dict) and value.keys() == {"type", "value"}:  # Vercel's
        failed = failed or value["type"] in ("error-text", "error-json")
        value = value["value"]
    reason = id_text(block.get("exception"))  # Microsoft Agent Framework's
    return ResultBlock(
        id_text(_stated_call_id(block) or block.get("id")),
        tool_name(block),
        plain_value(value),
        failed or reason is not None,
        reason,
    )


def read_tool_message(message: dict[str, Json], content: Json) -> ResultBlock:
    """Read a message of the role `tool`: its fields name the call, its content is the result."""
    for key in ("output", "response", "result") if content is None else ():
        content = message.get(key) if content is None else content
    failed = message.get("status") == "error" or message.get("is_error") is True
    return ResultBlock(
        id_text(message.get("tool_call_id") or _find_call_id(message)),
        tool_name(message),
        plain_value(content),
        failed or message.get("error") is True,
    )


def _find_call_id(message: dict[str, Json]) -> Json:
    for key in ("tool_use_id", "toolUseId", "call_id", "id"):
        if call_id := message.get(key):
            return call_id
    several = message.get("tool_call_ids")  # SWE-agent's
    return several[0] if isinstance(several, list) and several else None


def plain_value(content: Json) -> Json:
    """Return the content of a result: text blocks as text, JSON decoded, anything else as it is."""
    content = decode_json(content)
    if isinstance(content, list) and content:
        texts = [_block_text(block) for block in content]
        if all(text is not None for text in texts):
            return decode_json("\n".join(text for text in texts if text is not None))
        if len(content) == 1 and isinstance(content[0], dict) and content[0].keys() == {"json"}:
            return content[0]["json"]
    return content


def _block_text(block: Json) -> str | None:
    if not isinstance(block, dict):
        return None
    if block_type(block) in TEXT_TYPES or ("text" in block and "type" not in block):
        text = block.get("text", block.get("content"))
        return text if isinstance(text, str) else None
    return None


def id_text(value: Json) -> str | None:
    """Return an id or a name as text; an empty one is missing."""
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else to_text(value)
