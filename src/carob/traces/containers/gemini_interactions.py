"""Gemini's Interactions API: interactions with their steps, chained by their ids."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Usage
from carob.traces.messages.blocks import read_message
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, decode_structure, objects_in

_STEPS = frozenset(
    ("user_input", "model_output", "function_call", "function_result", "thought", "text")
)


class GeminiInteractions:
    """Objects with a `status` and `steps` (`outputs` in the first version) of Gemini's types."""

    name = "gemini-interactions"

    def claims(self, item: Json) -> bool:
        return False  # the interactions of a conversation are read together

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        if "status" not in fields or not {"model", "agent"} & fields.keys():
            return False
        steps = _steps(fields)
        return bool(steps) and any(as_text(step.get("type")) in _STEPS for step in steps)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for first, interactions in _chains(objects_in(item)).items():
            builder = TurnBuilder()
            for interaction in interactions:
                _add_interaction(builder, interaction)
            if turns := builder.turns():
                yield Trace(
                    id=first,
                    turns=turns,
                    source=source,
                    convention="gemini-interactions",
                    mapper="gemini-interactions@1",
                    conversation=first,
                )


def _steps(fields: dict[str, Json]) -> list[dict[str, Json]]:
    return objects_in(fields.get("steps")) or objects_in(fields.get("outputs"))


def _chains(interactions: list[dict[str, Json]]) -> dict[str, list[dict[str, Json]]]:
    """The interactions of each conversation, by the id of its first."""
    chains: dict[str, list[dict[str, Json]]] = {}
    firsts: dict[str, str] = {}
    for fields in sorted(interactions, key=lambda fields: as_text(fields.get("created")) or ""):
        key = as_text(fields.get("id")) or ""
        before = as_text(fields.get("previous_interaction_id")) or key
        firsts[key] = firsts.get(before, before)
        chains.setdefault(firsts[key], []).append(fields)
    return chains


def _add_interaction(builder: TurnBuilder, fields: dict[str, Json]) -> None:
    steps = _steps(fields)
    agent = as_text(fields.get("agent"))
    if not any(step.get("type") == "user_input" for step in steps):
        _add_input(builder, fields.get("input"))
    builder.add_agent(agent)
    for step in steps:
        _add_step(builder, step)
    for error in objects_in(fields.get("errors")):
        builder.add_error(as_text(error.get("message")) or "the interaction failed")
    for key in ("created", "updated"):
        builder.add_time(instant(fields.get(key)))
    if usage := _usage(as_object(fields.get("usage"))):
        builder.add_model_call(ModelCall(model=as_text(fields.get("model")), usage=usage))


def _add_input(builder: TurnBuilder, value: Json) -> None:
    if isinstance(value, str):
        builder.add_user_text(value)
        return
    parts = [value] if isinstance(value, dict) else objects_in(value)
    texts: list[Json] = []
    for part in parts:
        if as_text(part.get("type")) in {"function_result", "user_input"}:
            _add_step(builder, part)
        elif part.get("role") in (None, "user"):
            content = part.get("content", part)
            texts += content if isinstance(content, list) else [content]
    if text := read_message(texts, "user").text:
        builder.add_user_text(text)


def _add_step(builder: TurnBuilder, step: dict[str, Json]) -> None:
    kind = step.get("type")
    if kind == "user_input":
        builder.add_user_text(read_message(step.get("content"), "user").text or "")
    elif kind == "text":
        builder.add_answer("", as_text(step.get("text")) or "")
    elif kind == "model_output":
        if text := read_message(step.get("content"), "assistant").text:
            builder.add_answer("", text)
    elif kind == "function_call":
        name, args = as_text(step.get("name")) or "", decode_structure(step.get("arguments"))
        builder.add_call(ToolCall(name=name, args=args, id=as_text(step.get("id"))))
    elif kind == "function_result":
        error = TOOL_FAILED if step.get("is_error") is True else None
        result = decode_structure(step.get("result"))
        call_id = as_text(step.get("call_id"))
        builder.add_result(ToolResult(id=call_id, result=result, error=error))


def _usage(counts: dict[str, Json]) -> Usage | None:
    """The counts; the output does not include the thoughts, as in Gemini's API."""
    output = as_count(counts.get("total_output_tokens"))
    thoughts = as_count(counts.get("total_thought_tokens"))
    usage = Usage(
        input_tokens=as_count(counts.get("total_input_tokens")),
        output_tokens=None if output is None else output + (thoughts or 0),
        cached_tokens=as_count(counts.get("total_cached_tokens")),
        reasoning_tokens=thoughts,
        total_tokens=as_count(counts.get("total_tokens")),
    )
    return None if usage == Usage() else usage
