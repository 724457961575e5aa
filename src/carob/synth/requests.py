"""Requests by a model: the calls are chosen first, the words are derived from them, and kept if
enough samples that act on the words make exactly these calls, executed on recorded results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from carob.schema import Case, Json, Struct, ToolCall, ToolResult, Turn
from carob.synth.literals import find_literal
from carob.synth.tool_calls import compatible_calls
from carob.synth.tool_schemas import ToolSchema
from carob.synth.world import World, call_arguments, leaf_texts, spell_name
from carob.synth.writer import CaseWriter, NotKeptError

Execute: TypeAlias = Callable[[ToolCall], ToolResult | None]
"""Returns the recorded result of a call; `None` if there is none."""
_REQUEST = """\
An AI agent will make the given tool calls, in this order. Write the message of the user whose
request they fulfil completely, as a person writes who knows nothing of tools. State the values that
are listed, literally. A value that comes from an earlier result is not known to the user: describe
it instead. Return the message alone."""
_ACT = """\
You are the agent. Decide on the next tool call that fulfils the user's request, with the results of
the calls so far. Arguments are a JSON object. If the request is fulfilled, the tool is empty."""


class WrittenRequest(Struct, frozen=True):
    """The words for calls."""

    message: str


class NextCall(Struct, frozen=True):
    """What the agent does next."""

    tool: str
    arguments: str


class ExecutedCall(NamedTuple):
    """A call, and what it returned."""

    call: ToolCall
    result: ToolResult


def plan_calls(case: Case, world: World, execute: Execute) -> Iterator[tuple[ExecutedCall, ...]]:
    """Choose calls: those that a case expects, and those with one more that uses the last result.
    Every one of them has a recorded result."""
    calls = [call for turn in case.turns for call in turn.tool_calls or ()]
    if len(case.turns) != 1 or not calls or case.tool_calls is not None:
        return
    executed = _execute_all(calls, execute)
    if executed is None:
        return
    yield executed
    fields = executed[-1].result.result
    known = {call.name for call in calls}
    for call in compatible_calls(fields if isinstance(fields, dict) else {}, world):
        more = None if call.name in known else _execute_all([call], execute)
        if more:
            yield (*executed, *more)


def _execute_all(calls: Sequence[ToolCall], execute: Execute) -> tuple[ExecutedCall, ...] | None:
    results = [execute(call) for call in calls]
    if any(result is None or result.error is not None for result in results):
        return None
    return tuple(
        ExecutedCall(call, result)
        for call, result in zip(calls, results, strict=True)
        if result is not None
    )


async def write_request(
    plan: Sequence[ExecutedCall], parent: Case, world: World, writer: CaseWriter
) -> Case:
    """Write a case whose expected calls are those of the plan. Raises `NotKeptError`."""
    stated, derived = _divide_values(plan)
    prompt = msgspec.json.encode(
        {
            "calls": [
                {"tool": spell_name(step.call.name), "args": step.call.args} for step in plan
            ],
            "values to state": stated,
            "values that an earlier result gives": derived,
        }
    ).decode()
    message = (await writer.write(_REQUEST, prompt, WrittenRequest)).message.strip()
    if not message or not all(find_literal(message, value) for value in stated):
        raise NotKeptError("a value is missing")
    if any(find_literal(message, value) for value in derived):
        raise NotKeptError("a value is given away")

    async def vote(sample: int) -> bool:
        return await _act(message, plan, world, writer, sample)

    await writer.check(vote)
    ids = [f"call_{number}" for number in range(1, len(plan) + 1)]
    turn = Turn(
        user=message,
        app=parent.turns[0].app,
        tool_calls=tuple(
            msgspec.structs.replace(step.call, id=id) for id, step in zip(ids, plan, strict=True)
        ),
        tool_results=tuple(
            msgspec.structs.replace(step.result, id=id) for id, step in zip(ids, plan, strict=True)
        ),
    )
    case = Case(id="", turns=(turn,), session=parent.session, tags=parent.tags)
    return writer.with_lineage(
        case, relation="request", holds="changed", prompts=_REQUEST + _ACT, parent=parent
    )


def _divide_values(plan: Sequence[ExecutedCall]) -> tuple[list[str], list[str]]:
    """The values of the arguments that the user states, and those that an earlier result gives."""
    stated: dict[str, None] = {}
    derived: dict[str, None] = {}
    known: set[str] = set()
    for step in plan:
        for text in leaf_texts(step.call.args):
            (derived if text in known and text not in stated else stated)[text] = None
        known.update(leaf_texts(step.result.result))
    return list(stated), list(derived)


async def _act(
    message: str, plan: Sequence[ExecutedCall], world: World, writer: CaseWriter, sample: int
) -> bool:
    """Let the model act on the words. Each call is compared with the plan and gets the recorded
    result; after the last one nothing may follow."""
    history: list[dict[str, Json]] = []
    names = {step.call.name for step in plan}
    tools = [_describe(tool) for _, tool in sorted(world.tools.items())]
    tools += [{"name": name} for name in sorted(names - world.tools.keys())]
    for step in [*plan, None]:
        content = {"tools": tools, "user": message, "calls so far": history}
        prompt = msgspec.json.encode(content).decode()
        chosen = await writer.ask(_ACT, prompt, NextCall, sample)
        if chosen is None or step is None:
            return chosen is not None and not chosen.tool
        if chosen.tool != step.call.name or _parse(chosen.arguments) != call_arguments(step.call):
            return False
        history.append(
            {"tool": chosen.tool, "arguments": step.call.args, "result": step.result.result}
        )
    return False


def _describe(tool: ToolSchema) -> dict[str, Json]:
    properties: dict[str, Json] = {name: dict(schema) for name, schema in tool.properties.items()}
    required: list[Json] = [*sorted(tool.required)]
    return {"name": tool.name, "parameters": {"properties": properties, "required": required}}


def _parse(text: str) -> Json:
    try:
        return msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        return None
