"""ATIF, the Agent Trajectory Interchange Format that Harbor and NeMo Relay write."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Usage
from carob.traces.messages.blocks import read_message
from carob.traces.messages.tool_blocks import plain_value
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_count, as_object, as_text, decode_structure, objects_in


class Atif:
    """A trajectory: `steps`, each with the `source` that wrote it."""

    name = "atif"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        version = as_text(fields.get("schema_version")) or ""
        return version.startswith("ATIF") and isinstance(fields.get("steps"), list)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        agent = as_object(fields.get("agent"))
        session = as_text(fields.get("session_id"))
        builder = TurnBuilder()
        # Steps that were copied from an earlier trajectory were counted there.
        steps = [
            x for x in objects_in(fields.get("steps")) if x.get("is_copied_context") is not True
        ]
        for step in steps:
            _add_step(builder, step, agent)
        if not any(step.get("metrics") for step in steps):
            _add_totals(builder, as_object(fields.get("final_metrics")), agent)
        trajectory = as_text(fields.get("trajectory_id"))
        yield Trace(
            id=trajectory or session or content_digest_id(fields.get("steps")),
            turns=builder.turns(),
            source=source,
            convention="atif",
            mapper="atif@1",
            conversation=session,
        )
        for inner in objects_in(fields.get("subagent_trajectories")):
            yield from self.read(inner, source=source)


def _add_step(builder: TurnBuilder, step: dict[str, Json], agent: dict[str, Json]) -> None:
    name = as_text(agent.get("name"))
    text = read_message(step.get("message"), "assistant").text
    if step.get("source") == "user":
        builder.add_user_text(text or "")
    elif step.get("source") == "agent":
        builder.add_agent(name)
        if text:
            builder.add_answer(name or "", text)
        for call in objects_in(step.get("tool_calls")):
            builder.add_call(_tool_call(call, name))
        model = as_text(step.get("model_name")) or as_text(agent.get("model_name"))
        if usage := usage_of(step.get("metrics")):
            builder.add_model_call(ModelCall(model=model, usage=usage, agent=name))
    for result in objects_in(as_object(step.get("observation")).get("results")):
        builder.add_result(_tool_result(result))
    builder.add_time(instant(step.get("timestamp")))


def _tool_call(call: dict[str, Json], agent: str | None) -> ToolCall:
    return ToolCall(
        name=as_text(call.get("function_name")) or "",
        args=decode_structure(call.get("arguments")),
        id=as_text(call.get("tool_call_id")),
        agent=agent,
    )


def _tool_result(result: dict[str, Json]) -> ToolResult:
    """The result; ATIF has no field for a failure, and Harbor notes it in the extra fields."""
    value = plain_value(result.get("content"))
    failed = as_object(result.get("extra")).get("tool_result_is_error") is True
    error = (as_text(value) or TOOL_FAILED) if failed else None
    return ToolResult(id=as_text(result.get("source_call_id")), result=value, error=error)


def _add_totals(builder: TurnBuilder, totals: dict[str, Json], agent: dict[str, Json]) -> None:
    """Add the counts of the whole run, where the steps have none."""
    usage = Usage(
        input_tokens=as_count(totals.get("total_prompt_tokens")),
        output_tokens=as_count(totals.get("total_completion_tokens")),
        cached_tokens=as_count(totals.get("total_cached_tokens")),
    )
    if usage != Usage():
        builder.add_model_call(ModelCall(model=as_text(agent.get("model_name")), usage=usage))
