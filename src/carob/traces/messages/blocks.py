"""One message out of its content, whichever blocks that is made of.

OTel parts, OpenAI and Anthropic content, Bedrock and Gemini blocks and Vercel parts are told by
their shape.
"""

from __future__ import annotations

from carob.schema import Json
from carob.traces.mapping.decoding import dumps, literal, loads
from carob.traces.messages import reprs
from carob.traces.messages.said import Call, Result, Role, Said, role_of

CALL_TYPES = frozenset(
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
        "web_search_tool_result",
    ]
)
BUILT_IN: dict[Json, str] = {
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
"""OpenAI's own tools, by the types of their calls, which hold the results as well."""
PRINTED = ("Response", "{'")
"""How texts begin that may be a printed tool call or a printed message."""
_TEXT_TYPES = frozenset(("text", "input_text", "output_text", "refusal"))
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
_SAYING = ("content", "parts", "tool_calls", "function_call", "refusal", "blocks")
_BLOCK_KEYS = ("text", "toolUse", "toolResult", "functionCall", "functionResponse", "cachePoint")
_VERCEL = frozenset(("toolCallId", "toolName"))
"""What a call of Vercel's has, where it stands outside of a message and has no type."""
_BLOCK_TYPES = CALL_TYPES | RESULT_TYPES | _TEXT_TYPES | SILENT_TYPES


def message(value: Json, role: Role) -> Said:
    """One message whose role may be said outside of it."""
    if isinstance(value, dict):
        return spoken(value, value.get("role") or role)
    said = Said(role)
    fill(said, value)
    return said


def spoken(value: dict[str, Json], name: Json) -> Said:
    role = role_of(name)
    said = Said(role)
    parts = value.get("parts")
    content = parts if parts is not None else value.get("content", value.get("blocks"))
    if role == "tool":
        _tool_message(said, value, content)
        return said
    if content is None:
        said.hidden = value.keys().isdisjoint(_SAYING)
    else:
        fill(said, content)
    calls = value.get("tool_calls")
    if not calls and isinstance(more := value.get("additional_kwargs"), dict):
        calls = more.get("tool_calls")
    if calls is not None:
        _calls(said, loads(calls))
    finish = value.get("finish_reason")
    if isinstance(finish, str):
        said.finish = finish
    return said


PRINTED_MESSAGES = ("content=", "ChatMessage(")
"""How messages begin that LangChain or Haystack printed in place of serializing them."""


def printed(text: str) -> Said | None:
    """A message that was printed."""
    if text.startswith("ChatMessage("):
        whole = reprs.haystack_message(text)
        return None if whole is None else _haystack(whole)
    found = reprs.langchain_message(text)
    if found is None:
        return None
    said = Said(role_of(found.role))
    if said.role == "tool":
        result = Result(found.id, found.name, plain(found.content), found.failed)
        said.results.append(result)
        return said
    fill(said, found.content)
    _calls(said, found.calls)
    return said


def _haystack(whole: dict[str, Json]) -> Said:
    said = Said(role_of(whole.get("role")))
    content = whole.get("content")
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and isinstance(origin := part.get("origin"), dict):
            name, found = origin.get("tool_name"), part.get("result")
            result = Result(_id(origin.get("id")), _id(name), plain(found), bool(part.get("error")))
            said.results.append(result)
        elif isinstance(part, dict) and "tool_name" in part:
            _call(said, part)
        elif isinstance(part, dict | str):
            fill(said, part.get("text") if isinstance(part, dict) else part)
    return said


def _tool_message(said: Said, value: dict[str, Json], content: Json) -> None:
    """A tool's answer: the content itself, or blocks that name the call that they answer."""
    if isinstance(content, dict) and ("content" in content or "message" in content):
        content = content.get("content", content.get("message"))
    blocks = loads(content)
    if isinstance(blocks, dict) and blocks.get("type") == "function" and "function" in blocks:
        return  # Langfuse's handler for LangChain adds what tools there are to the messages
    if isinstance(blocks, list) and any(_is_tool_block(block) for block in blocks):
        fill(said, blocks)
    else:
        said.results.append(_answered(value, content))


def _is_tool_block(block: Json) -> bool:
    if not isinstance(block, dict):
        return False
    kind = _kind(block)
    if kind in RESULT_TYPES or kind in CALL_TYPES:
        return True
    return "toolResult" in block or "functionResponse" in block or "function_response" in block


def _kind(block: dict[str, Json]) -> str | None:
    kind = block.get("type", block.get("part_kind"))  # pydantic-ai's own word
    return kind if isinstance(kind, str) else None


def _is_text(part: dict[str, Json]) -> bool:
    return _kind(part) in _TEXT_TYPES or ("text" in part and "type" not in part)


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


def fill(said: Said, content: Json) -> None:
    if isinstance(content, str):
        _content_text(said, content)
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                fill_block(said, block)
            elif isinstance(block, str):
                said.add(block)
    elif isinstance(content, dict):
        inner = content.get("parts", content.get("content", content.get("message")))
        inner = content.get("value") if inner is None else inner  # OpenAI's threads
        if inner is None:
            fill_block(said, content)
        else:
            fill(said, inner)


def _content_text(said: Said, content: str) -> None:
    if content[:1] == "[":
        blocks = loads(content)
        if isinstance(blocks, list) and blocks:
            first = blocks[0]
            if isinstance(first, dict) and is_block(first):
                fill(said, blocks)
                return
    if content.startswith("Response") and (call := reprs.function_call(content)):
        said.calls.append(Call(call.name, loads(call.args), call.id))
        return
    held = literal(content) if content.startswith("{'") else None
    if isinstance(held, dict) and "role" in held:
        fill(said, held.get("content"))
        _calls(said, held.get("tool_calls"))
        return
    if isinstance(held, dict) and _kind(held) in _TEXT_TYPES and "text" in held:
        said.add(dumps(held["text"]))
        return
    # OpenLLMetry writes an empty answer as its JSON, two quotation marks.
    said.add("" if content == '""' else content)


def fill_block(said: Said, block: dict[str, Json]) -> None:
    kind = _kind(block)
    if kind == "text" and isinstance(piece := block.get("content"), str):
        _content_text(said, piece) if piece.startswith(PRINTED) else said.add(piece)
    elif len(block) == 1 and kind in _TEXT_TYPES:
        said.hidden = True
    elif kind in SILENT_TYPES or block.get("thought") is True:
        return
    elif kind in CALL_TYPES or kind in BUILT_IN:
        _call(said, block)
    elif kind in RESULT_TYPES:
        said.results.append(_result(block))
    elif kind is None and block.keys() >= _VERCEL:
        _call(said, block)
    elif isinstance(piece := block.get("text", block.get("content")), str):
        if piece.startswith(PRINTED):
            _content_text(said, piece)
        else:
            said.add(piece)
    elif isinstance(piece, dict | list):
        fill(said, piece)
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
    if isinstance(inner := call.get("content"), dict):  # Azure's part around a call
        call = inner
    function = call.get("function")
    body = function if isinstance(function, dict) else call
    name = body.get("name") or body.get("toolName") or body.get("tool_name")
    if not isinstance(name, str):
        _built_in(said, call)
        return
    found = call.get("call_id") or call.get("id") or call.get("toolCallId") or call.get("toolUseId")
    key = _id(found or call.get("tool_call_id"))
    # Bedrock's and Anthropic's calls are recorded in the content and beside it.
    if key is None or not any(one.id == key and one.name == name for one in said.calls):
        said.calls.append(Call(name, arguments(body), key))


def _built_in(said: Said, call: dict[str, Json]) -> None:
    kind = _kind(call)
    held = call.get(kind) if kind else None  # in runs on threads, `{"type": "x", "x": {…}}`
    name, held = (kind, held) if isinstance(held, dict) else (BUILT_IN.get(kind), call)
    if name is None:
        return
    args = {key: held[key] for key in ("code", "input", "queries") if held.get(key) is not None}
    key = _id(call.get("id"))
    said.calls.append(Call(name, args or _served(held.get("action")) or {}, key))
    given = held.get("outputs", held.get("results"))
    if given is not None:
        said.results.append(Result(key, name, plain(given), error=False))


def arguments(body: dict[str, Json]) -> Json:
    """What a model's tool call passes, under whichever word."""
    for key in ("arguments", "args", "input", "tool.args", "partial_json"):
        if (value := body.get(key)) is not None:
            return loads(value) if value != "" else {}
    return _served(body.get("server_tool_call"))


def _served(value: Json) -> Json:
    """What a provider's own tool was given or gave, beside the type that repeats its name."""
    if not isinstance(value, dict):
        return value
    return {key: held for key, held in value.items() if key != "type"}


def _result(block: dict[str, Json]) -> Result:
    if _kind(block) == "tool_call_output" and isinstance(inner := block.get("content"), dict):
        block = inner
    value = _served(block.get("server_tool_call_response"))
    for key in ("response", "result", "output", "content", "error"):
        if key in block:
            value = block[key]
            break
    found = block.get("call_id") or block.get("tool_use_id") or block.get("toolUseId")
    found = found or block.get("id") or block.get("toolCallId") or block.get("tool_call_id")
    failed = block.get("status") == "error" or _kind(block) in ("tool-error", "retry-prompt")
    failed = failed or block.get("is_error") is True or block.get("isError") is True
    if isinstance(value, dict) and value.keys() == {"type", "value"}:  # Vercel's
        failed = failed or value["type"] in ("error-text", "error-json")
        value = value["value"]
    name = block.get("name") or block.get("toolName") or block.get("tool_name")
    return Result(_id(found), _id(name), plain(value), failed)


def is_block(value: dict[str, Json]) -> bool:
    if "role" in value or "generation_info" in value or "message" in value:
        return False
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _BLOCK_TYPES and kind not in ("function_call", "function_call_output")
    if value.keys() >= _VERCEL:
        return True
    return any(key in value for key in _BLOCK_KEYS) and len(value) <= 2


def _id(value: Json) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else dumps(value)
