"""Other courses of the calls: a tool that fails, and a second call that uses the first's result."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from carob.schema import Case, Json, Rubric, ToolCall, ToolResult
from carob.synth.literals import forget_outcome
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.tool_schemas import matches_schema
from carob.synth.world import World, call_arguments, spell_name
from carob.text.language import guess_language

_ERRORS = (
    "service unavailable, try again later",
    "request timed out after 30 seconds",
    "internal error 500",
    "permission denied",
)
_EARLY = re.compile(r"(?i)\b(then|after that|afterwards)\b")


def _fail_tool(case: Case, draw: Draw, _world: World) -> Variant | None:
    """Let the first call fail each time. How often an agent tries again is not known, so no calls
    are expected; the error is what `--mocks golden` answers."""
    first = next(
        (
            (index, turn, call)
            for index, turn in enumerate(case.turns)
            for call in turn.tool_calls or ()
        ),
        None,
    )
    if first is None:
        return None
    index, turn, call = first
    error = draw.pick(_ERRORS)
    rubric = Rubric(
        id="reports_tool_error",
        text=f"The agent says that it could not complete the request, because {call.name} failed"
        f" ({error}), and makes up no result.",
    )
    failed = forget_outcome(case, index, turn.user or "", None, rubric)
    # Without a call of its own, the result answers any arguments: a second try fails as well.
    last = msgspec.structs.replace(
        failed.turns[-1], tool_results=(ToolResult(name=call.name, error=error),)
    )
    return Variant(msgspec.structs.replace(failed, turns=(*failed.turns[:-1], last)))


def _chain_calls(case: Case, draw: Draw, world: World) -> Variant | None:
    """Ask for a second call whose only required argument is a field of the first call's recorded
    result, with the same name and type."""
    if len(case.turns) != 1 or case.tool_calls is not None:
        return None
    (turn,) = case.turns
    calls, results = turn.tool_calls or (), turn.tool_results
    user = turn.user or ""
    if len(calls) != 1 or len(results) != 1 or guess_language(user) != "en" or _EARLY.search(user):
        return None
    fields = results[0].result if isinstance(results[0].result, dict) else {}
    links = [link for link in compatible_calls(fields, world) if link.name != calls[0].name]
    if not links:
        return None
    second = draw.pick(links)
    (name,) = call_arguments(second)
    request = f"{user} Then {spell_name(second.name)} with the {spell_name(name)} that you get."
    chained = forget_outcome(case, 0, request, (*calls, second))
    last = msgspec.structs.replace(chained.turns[0], tool_results=results)
    return Variant(msgspec.structs.replace(chained, turns=(last,)), slot=name)


def compatible_calls(fields: dict[str, Json], world: World) -> Iterator[ToolCall]:
    """The calls whose only required argument is a field of a result, with its name and type."""
    for tool in sorted(world.tools.values(), key=lambda tool: tool.name):
        if len(tool.required) == 1:
            (name,) = tool.required
            if name in fields and matches_schema(fields[name], tool.properties.get(name, {})):
                yield ToolCall(name=tool.name, args={name: fields[name]})


RELATIONS = (
    Relation("tool_error", "refuse", "Lets the first tool call fail.", _fail_tool),
    Relation(
        "call_chain", "changed", "Asks for a second call with the first's result.", _chain_calls
    ),
)
