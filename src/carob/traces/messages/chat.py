"""Chat messages as OpenAI, Anthropic, Bedrock, LangChain and Responses items spell them → turns."""

from __future__ import annotations

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Turn
from carob.traces.messages.dialogue import Dialogue
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import first, parsed, rows, table, tables, text

_ROLES = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "function_call_output": "tool",
    "ipython": "tool",
    "function_call": "assistant",
    "message": "assistant",
    "reasoning": "note",
    "system": "note",
    "developer": "note",
}
_CONTENT = (
    "content",
    "text",
    "tool_calls",
    "function_call",
    "parts",
    "output",
    "arguments",
    "data",
)


def role_of(message: dict[str, Json]) -> str | None:
    """Who speaks: user, assistant or tool; `note` for what is no part of the dialogue."""
    for word in (message.get("role"), message.get("type")):
        if isinstance(word, str) and word.lower() in _ROLES:
            return _ROLES[word.lower()]
    return None


def is_message(item: Json) -> bool:
    """Does this look like one chat message?"""
    if not isinstance(item, dict) or "contents" in item or role_of(item) is None:
        return False
    return isinstance(item.get("role"), str) or any(key in item for key in _CONTENT)


def is_dialogue(items: Json) -> bool:
    """Is this a list of chat messages, with somebody in it who asks or answers?"""
    held = rows(items)
    return bool(held) and all(map(is_message, held)) and _has_speaker(held)


def _has_speaker(held: list[Json]) -> bool:
    return any(role_of(table(item)) in {"user", "assistant"} for item in held)


def turns_of(items: Json) -> tuple[Turn, ...]:
    """The turns of a list of messages."""
    dialogue = Dialogue()
    for message in tables(items):
        tell(dialogue, message)
    return dialogue.turns()


def tell(dialogue: Dialogue, message: dict[str, Json]) -> None:
    """One message of a dialogue."""
    inner = message.get("data")
    if isinstance(inner, dict) and "role" not in message:  # LangChain's serialised messages
        message = {**inner, "type": message.get("type")}
    role = role_of(message)
    dialogue.at(instant(first(message, "timestamp", "created_at", "createdAt")))
    if role == "user":
        _tell_user(dialogue, message)
    elif role == "assistant":
        _tell_assistant(dialogue, message)
    elif role == "tool" and message.get("requestor") != "user":  # tau²-bench: users call tools too
        for result in tables(message.get("tool_messages")) or [message]:
            dialogue.result(_result(result))


def _tell_user(dialogue: Dialogue, message: dict[str, Json]) -> None:
    """The user speaks, or results come back in the user's name as Anthropic and Bedrock do it."""
    results = [found for block in _blocks(message) if (found := _result_block(block)) is not None]
    for result in results:
        dialogue.result(result)
    said = said_in(message)
    if said is not None and (said or not results):
        dialogue.user(said)


def _tell_assistant(dialogue: Dialogue, message: dict[str, Json]) -> None:
    name = text(message.get("name")) if message.get("type") != "function_call" else None
    dialogue.agent(name)
    said = said_in(message)
    if said:
        dialogue.say(name or "", said)
    for call in calls_in(message, agent=name):
        dialogue.call(call)
    for block in _blocks(message):
        result = _result_block(block)
        if result is not None:
            dialogue.result(result)
    _tell_model(dialogue, message, name)


def _tell_model(dialogue: Dialogue, message: dict[str, Json], agent: str | None) -> None:
    about = table(message.get("response_metadata"))
    usage = usage_of(first(message, "usage", "usage_metadata"))
    usage = usage or usage_of(first(about, "token_usage", "usage"))
    model = text(first(message, "model", "model_name") or first(about, "model_name", "model"))
    if usage is not None:
        dialogue.model(ModelCall(model=model, usage=usage, agent=agent))


def said_in(message: dict[str, Json]) -> str | None:
    """The text of a message; `None` if it has none."""
    content = first(message, "content", "text", "parts")
    if isinstance(content, str):
        return content
    texts = [_text_block(block) for block in rows(content)]
    said = [found for found in texts if found is not None]
    return "\n".join(said) if said else None


def _text_block(block: Json) -> str | None:
    if isinstance(block, str):
        return block
    held = table(block)
    if held.get("type", "text") not in ("text", "input_text", "output_text"):
        return None
    found = first(held, "text", "content")
    return found if isinstance(found, str) else None


def _blocks(message: dict[str, Json]) -> list[dict[str, Json]]:
    return tables(first(message, "content", "parts"))


def calls_in(message: dict[str, Json], *, agent: str | None = None) -> list[ToolCall]:
    """The tool calls of an assistant's message, wherever its dialect puts them."""
    found = tables(message.get("tool_calls"))
    old = message.get("function_call")
    if not found and isinstance(old, dict):
        found = [old]
    if message.get("type") == "function_call":
        found = [message]
    found = found or [held for block in _blocks(message) if (held := _call_block(block))]
    return [_call(item, agent) for item in found]


def _call_block(block: dict[str, Json]) -> dict[str, Json] | None:
    for key in ("toolUse", "functionCall", "function_call"):
        if isinstance(block.get(key), dict):
            return table(block[key])
    return block if block.get("type") in ("tool_use", "tool_call", "server_tool_use") else None


def _call(item: dict[str, Json], agent: str | None) -> ToolCall:
    held = {**item, **table(item.get("function"))}
    return ToolCall(
        name=text(held.get("name")) or "",
        args=parsed(first(held, "arguments", "args", "input", "parameters")),
        id=text(first(item, "call_id", "id", "toolUseId")),
        agent=agent,
    )


def _result_block(block: dict[str, Json]) -> ToolResult | None:
    for key in ("toolResult", "functionResponse", "function_response"):
        if isinstance(block.get(key), dict):
            return _result(table(block[key]))
    ours = block.get("type") in ("tool_result", "tool_call_response")
    return _result(block) if ours else None


def _result(item: dict[str, Json]) -> ToolResult:
    value = first(item, "content", "output", "response", "result")
    said = said_in({"content": value}) if isinstance(value, list) else None
    result = value if said is None else said
    failed = item.get("is_error") is True or item.get("error") is True
    failed = failed or item.get("status") == "error"
    return ToolResult(
        name=text(item.get("name")),
        id=_result_id(item),
        result=result,
        error=(result if isinstance(result, str) and result else "error") if failed else None,
    )


def _result_id(item: dict[str, Json]) -> str | None:
    many = rows(item.get("tool_call_ids"))  # SWE-agent
    one = first(item, "tool_call_id", "tool_use_id", "toolUseId", "call_id", "id")
    return text(one if one is not None or not many else many[0])
