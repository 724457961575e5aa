"""What a judge can be shown, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from carob.judges.rubrics import shown
from carob.judges.rubrics.view import View
from carob.metrics import Need
from carob.metrics.pairs import Pair
from carob.schema import Case, Json


class Input(NamedTuple):
    """A part of the material."""

    name: str
    meaning: str
    """As the judge is told it."""
    lacking: str
    """Why there is no score without it."""
    read: Callable[[View], str | None]
    """`None` is "not stated" or "not recorded"; empty is empty."""
    need: Need | None = None


def _user(view: View) -> str | None:
    found = [(f"turn {pair.number}", _said_by_user(pair)) for pair in view.pairs]
    said = [(turn, text) for turn, text in found if text is not None]
    return shown.several(said) if said else None


def _said_by_user(pair: Pair) -> str | None:
    """What was recorded counts; golden data says what it was meant to be."""
    turns = [turn for turn in (pair.actual, pair.golden) if turn]
    return next((turn.user for turn in turns if turn.user is not None), None)


def _response(view: View) -> str | None:
    return view.actuals[-1].response if view.actuals else None


def _reference(view: View) -> str | None:
    return view.goldens[-1].response if view.goldens else None


def _tool_calls(view: View) -> str | None:
    recorded = [turn.tool_calls for turn in view.actuals]
    if not recorded or any(found is None for found in recorded):
        return None
    return shown.calls(call for found in recorded for call in found or ())


def _tool_results(view: View) -> str | None:
    found = [shown.result(one) for turn in view.actuals for one in turn.tool_results]
    called = any(turn.tool_calls for turn in view.actuals)
    return "\n".join(found) or (None if called or _tool_calls(view) is None else "(none)")


def _steps(view: View) -> str | None:
    recorded = any(turn.tool_calls is not None for turn in view.actuals)
    return shown.steps(view.actuals) if recorded else None


def _expected_tool_calls(view: View) -> str | None:
    stated = [turn.tool_calls for turn in view.goldens if turn.tool_calls is not None]
    whole = view.case.tool_calls
    if not stated and whole is None:
        return None
    return shown.calls([*(call for found in stated for call in found), *(whole or ())])


def _agent_details(view: View, key: str) -> Iterator[tuple[str, Json]]:
    """What was recorded of the agents themselves, each told once."""
    told: set[str] = set()
    for turn in [*view.actuals, *view.goldens]:
        for agent, about in (turn.app or {}).items():
            found = about.get(key) if isinstance(about, dict) else None
            if found and agent not in told:
                told.add(agent)
                yield agent, found


def _extracted(view: View, key: str) -> Json:
    """What a simulation extracted beside what traces have a place for."""
    found = view.trace.attributes.get("extracted_data")
    return found.get(key) if isinstance(found, dict) else None


def _system_instructions(view: View) -> str | None:
    told = [(agent, shown.plain(text)) for agent, text in _agent_details(view, "instructions")]
    extracted = _extracted(view, "system_instruction")
    other = view.trace.attributes.get("system_instructions") if extracted is None else extracted
    told += [] if told or other is None else [("agent", shown.plain(other))]
    return _headed(told)


def _available_tools(view: View) -> str | None:
    told = [(agent, shown.plain(one)) for agent, one in _agent_details(view, "tool_declarations")]
    if told:
        return _headed(told)
    if view.case.tools is not None:
        return "\n".join(view.case.tools) or "(none)"
    extracted = _extracted(view, "tool_declarations")
    return None if extracted is None else shown.plain(extracted)


def _headed(told: list[tuple[str, str]]) -> str | None:
    """By agent. Names of agents are anybody's words, so they are no headings."""
    texts = [(f"agent {number}", f"{name}\n{text}") for number, (name, text) in enumerate(told, 1)]
    return shown.several(texts) if texts else None


def _trajectory(view: View) -> str | None:
    agents = [agent for turn in view.actuals for agent in turn.agents]
    return "\n".join(agents) or None


def _messages(view: View) -> str | None:
    said = [one for turn in view.actuals for one in turn.messages]
    told = [shown.entry(f"message {n}", shown.message(one)) for n, one in enumerate(said, 1)]
    return "\n".join(told) or None


def _grounding(view: View) -> str | None:
    recorded = [turn.grounding for turn in view.actuals if turn.grounding is not None]
    chunks = [shown.plain(chunk) for found in recorded for chunk in found]
    told = [shown.entry(f"chunk {n}", text) for n, text in enumerate(chunks, 1)]
    return "\n".join(told) or ("(none)" if recorded else None)


def _conversation(view: View) -> str | None:
    return shown.dialogue(view.so_far)


def _history(view: View) -> str | None:
    return shown.dialogue(view.before)


def _json(value: Json) -> str | None:
    return None if value is None else shown.plain(value)


def _listed(texts: tuple[str, ...] | None) -> str | None:
    return None if texts is None else "\n".join(texts) or "(none)"


def _state(view: View) -> str | None:
    return _json(view.trace.state)


def _plan(view: View) -> str | None:
    return view.case.scenario.plan if view.case.scenario else None


def _persona(view: View) -> str | None:
    return _json(view.case.scenario.persona) if view.case.scenario else None


def _of_case(read: Callable[[Case], str | None]) -> Callable[[View], str | None]:
    return lambda view: read(view.case)


_ALL = (
    Input("user", "what the user wrote", "no user message was recorded", _user, "user"),
    Input(
        "response",
        "what the agent answered",
        "the response was not recorded",
        _response,
        "response",
    ),
    Input(
        "conversation",
        "the conversation so far, with tool calls and their results",
        "no conversation was recorded",
        _conversation,
        "response",
    ),
    Input("history", "the conversation before this turn", "nothing was said before", _history),
    Input(
        "reference",
        "the response that is expected",
        "the case expects no response",
        _reference,
        "case.response",
    ),
    Input(
        "context",
        "what the agent was given to work with",
        "the case has no context",
        _of_case(lambda case: case.context),
        "case.context",
    ),
    Input(
        "relevant_context",
        "what of the context matters for what the user wants",
        "the case has no relevant context",
        _of_case(lambda case: case.relevant_context),
    ),
    Input(
        "goal",
        "what the agent is to achieve",
        "the case states no goal",
        _of_case(lambda case: case.goal),
        "case.goal",
    ),
    Input(
        "tool_calls",
        "the tools that the agent called, with their arguments",
        "tool calls were not recorded",
        _tool_calls,
        "tool_calls",
    ),
    Input(
        "tool_results",
        "what the tools answered",
        "tool results were not recorded",
        _tool_results,
        "tool_results",
    ),
    Input(
        "steps",
        "each tool call of the agent with what the tool answered",
        "tool calls were not recorded",
        _steps,
        "tool_calls",
    ),
    Input(
        "expected_tool_calls",
        "the tool calls that are expected",
        "the case expects no tool calls",
        _expected_tool_calls,
        "case.tool_calls",
    ),
    Input(
        "available_tools",
        "the tools that the agent has",
        "the tools of the agent are not known",
        _available_tools,
    ),
    Input(
        "system_instructions",
        "what the developer told the agent to do",
        "the agent's instructions were not recorded",
        _system_instructions,
    ),
    Input(
        "state",
        "the session state at the end",
        "the session state was not recorded",
        _state,
        "state",
    ),
    Input(
        "expected_state",
        "the session state that is expected at the end",
        "the case expects no state",
        _of_case(lambda case: _json(case.state)),
        "case.state",
    ),
    Input(
        "trajectory",
        "the agents in the order in which they took over",
        "no agent was recorded",
        _trajectory,
        "agents",
    ),
    Input(
        "expected_trajectory",
        "the agents or steps that are expected, in order",
        "the case expects no trajectory",
        _of_case(lambda case: _listed(case.trajectory)),
        "case.trajectory",
    ),
    Input(
        "messages",
        "what agents said on the way to the response",
        "nothing that was said on the way was recorded",
        _messages,
    ),
    Input(
        "grounding",
        "the retrieved texts that the response stands on",
        "grounding was not recorded",
        _grounding,
        "grounding",
    ),
    Input(
        "contains",
        "texts that the response must contain",
        "the case names no texts",
        _of_case(lambda case: _listed(case.contains)),
        "case.contains",
    ),
    Input(
        "reference_data",
        "further ground truth, under names of its own",
        "the case has no further ground truth",
        _of_case(lambda case: _json(case.reference or None)),
    ),
    Input(
        "metadata",
        "what else is known of the case",
        "the case has no metadata",
        _of_case(lambda case: _json(case.metadata or None)),
    ),
    Input(
        "plan",
        "what the simulated user is to do",
        "the case has no scenario",
        _plan,
        "case.scenario",
    ),
    Input("persona", "how the simulated user is to behave", "the case has no persona", _persona),
)

INPUTS: Mapping[str, Input] = {one.name: one for one in _ALL}
