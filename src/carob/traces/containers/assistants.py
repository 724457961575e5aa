"""OpenAI Assistants: messages, runs and run steps of threads, as the API returns them."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.blocks import read_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, decode_structure, objects_in

_OBJECTS = frozenset(("thread.message", "thread.run", "thread.run.step"))
_ORDER = {"thread.message": 1, "thread.run.step": 0}
"""A step that calls tools comes before the message that is created in the same second."""


class Assistants:
    """Objects of the types of threads; all objects of a file with the same thread are a session."""

    name = "assistants"

    def claims(self, item: Json) -> bool:
        return False  # alone, a message or a run is not a session

    def claims_line(self, item: Json) -> bool:
        objects = _objects_of(as_object(item))
        return bool(objects) and all(map(_is_object, objects))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        threads: dict[str, list[dict[str, Json]]] = {}
        for line in objects_in(item):
            for fields in _objects_of(line):
                threads.setdefault(as_text(fields["thread_id"]) or "", []).append(fields)
        for thread, objects in threads.items():
            if turns := _ThreadReader(objects).builder.turns():
                yield Trace(
                    id=thread,
                    turns=turns,
                    source=source,
                    convention="assistants",
                    mapper="assistants@1",
                    conversation=thread,
                )


def _objects_of(line: dict[str, Json]) -> list[dict[str, Json]]:
    """The objects of a list as the API returns it, else the object itself."""
    return objects_in(line.get("data")) if line.get("object") == "list" else [line]


def _is_object(fields: dict[str, Json]) -> bool:
    kind = fields.get("object")
    return isinstance(kind, str) and kind in _OBJECTS and "thread_id" in fields


class _ThreadReader:
    """Builds the turns of one thread."""

    def __init__(self, objects: list[dict[str, Json]]) -> None:
        self.builder = TurnBuilder()
        self._models = {
            as_text(run.get("id")): as_text(run.get("model"))
            for run in objects
            if run["object"] == "thread.run"
        }
        self._has_steps = any(fields["object"] == "thread.run.step" for fields in objects)
        for fields in sorted(objects, key=_position):
            if fields["object"] == "thread.message":
                self._add_message(fields)
            elif fields["object"] == "thread.run.step":
                self._add_step(fields)
            elif error := as_text(as_object(fields.get("last_error")).get("message")):
                self.builder.add_error(error)
            self.builder.add_time(instant(fields.get("completed_at")))

    def _add_message(self, fields: dict[str, Json]) -> None:
        blocks: list[Json] = [_text_block(block) for block in objects_in(fields.get("content"))]
        text = read_message(blocks, "user").text or ""
        if fields.get("role") == "user":
            self.builder.add_user_text(text)
        else:
            self.builder.add_answer("", text)
            if not self._has_steps:
                self.builder.mark_calls_unknown()
        self.builder.add_time(instant(fields.get("created_at")))

    def _add_step(self, step: dict[str, Json]) -> None:
        details = as_object(step.get("step_details"))
        for call in objects_in(details.get("tool_calls")):
            self._add_call(call)
        model = self._models.get(as_text(step.get("run_id")))
        if usage := usage_of(step.get("usage")):
            self.builder.add_model_call(ModelCall(model=model, usage=usage))
        if error := as_text(as_object(step.get("last_error")).get("message")):
            self.builder.add_error(error)

    def _add_call(self, call: dict[str, Json]) -> None:
        kind, call_id = as_text(call.get("type")) or "", as_text(call.get("id"))
        inner = as_object(call.get(kind))
        name = as_text(inner.get("name")) or kind
        if kind == "function":
            args, result = decode_structure(inner.get("arguments")), inner.get("output")
        elif kind == "code_interpreter":
            args, result = {"input": inner.get("input")}, inner.get("outputs")
        else:
            args, result = {}, inner.get("results")
        self.builder.add_call(ToolCall(name=name, args=args, id=call_id))
        if result is not None:
            value = decode_structure(result)
            self.builder.add_result(ToolResult(name=name, id=call_id, result=value))


def _position(fields: dict[str, Json]) -> tuple[int, int]:
    created = as_count(fields.get("created_at")) or 0
    return created, _ORDER.get(as_text(fields["object"]) or "", 2)


def _text_block(block: dict[str, Json]) -> Json:
    text = block.get("text")
    return {"type": "text", "text": text.get("value")} if isinstance(text, dict) else block
