"""smolagents: the steps of an agent's memory, alone or in the result of a run."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in, to_text

_FINAL = "final_answer"
"""The tool with which an agent answers."""
_STEP_KEYS = {"step_number", "observations"}


class SmolAgents:
    """Steps with a `step_number` after one with a `task`, in a list or one per line."""

    name = "smolagents"

    def claims(self, item: Json) -> bool:
        return _is_memory(_steps(item))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return _is_task(fields) or fields.keys() >= _STEP_KEYS

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        steps = _steps(item)
        builder = TurnBuilder()
        for step in steps:
            _add_step(builder, step)
        yield Trace(
            id=content_digest_id([*steps]),
            turns=builder.turns(),
            source=source,
            convention="smolagents",
            mapper="smolagents@1",
        )


def _steps(item: Json) -> list[dict[str, Json]]:
    return objects_in(as_object(item).get("steps") if isinstance(item, dict) else as_array(item))


def _is_memory(steps: list[dict[str, Json]]) -> bool:
    return any(map(_is_task, steps[:2])) and any(step.keys() >= _STEP_KEYS for step in steps)


def _is_task(step: dict[str, Json]) -> bool:
    return isinstance(step.get("task"), str) and step.keys() <= {"task", "task_images"}


def _add_step(builder: TurnBuilder, step: dict[str, Json]) -> None:
    if "task" in step:
        builder.add_user_text(as_text(step["task"]) or "")
    if "step_number" not in step:
        return
    calls = objects_in(step.get("tool_calls"))
    others = [call for call in calls if _name(call) != _FINAL]
    for call in others:
        args = decode_structure(_function(call).get("arguments"))
        builder.add_call(ToolCall(name=_name(call), args=args, id=as_text(call.get("id"))))
    _add_results(builder, step, others)
    if step.get("is_final_answer") is True:
        builder.add_answer("", _final_answer(step, calls))
    _add_model_call(builder, step)


def _function(call: dict[str, Json]) -> dict[str, Json]:
    """The name and arguments of a call: in a function as smolagents writes them, else as they are
    in its steps."""
    return as_object(call.get("function")) or call


def _name(call: dict[str, Json]) -> str:
    return as_text(_function(call).get("name")) or ""


def _final_answer(step: dict[str, Json], calls: list[dict[str, Json]]) -> str:
    """The answer: the argument of the tool that gives it, or what the code of the step returned."""
    for call in calls:
        args = as_object(decode_structure(_function(call).get("arguments")))
        if _name(call) == _FINAL and "answer" in args:
            return to_text(args["answer"])
    output = step.get("action_output")
    return to_text(output) if output is not None else as_text(step.get("observations")) or ""


def _add_results(builder: TurnBuilder, step: dict[str, Json], calls: list[dict[str, Json]]) -> None:
    """Add what was observed, if it is known which call it belongs to."""
    error = as_text(as_object(step.get("error")).get("message"))
    observed = as_text(step.get("observations"))
    if len(calls) == 1 and (observed is not None or error):
        call_id = as_text(calls[0].get("id"))
        builder.add_result(ToolResult(id=call_id, result=observed, error=error))
    elif error and not calls:
        builder.add_error(error)


def _add_model_call(builder: TurnBuilder, step: dict[str, Json]) -> None:
    timing = as_object(step.get("timing"))
    for key in ("start_time", "end_time"):
        builder.add_time(instant(timing.get(key)))
    message = as_object(step.get("model_output_message"))
    raw = as_object(message.get("raw"))
    if usage := usage_of(raw.get("usage")) or usage_of(step.get("token_usage")):
        builder.add_model_call(ModelCall(model=as_text(raw.get("model")), usage=usage))
