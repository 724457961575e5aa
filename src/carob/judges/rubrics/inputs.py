"""The inputs that a judge can see, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from carob.judges.rubrics import formatting
from carob.judges.rubrics.subject import Subject
from carob.metrics import Need
from carob.metrics.turns import TurnPair
from carob.schema import Case, Json


class Input(NamedTuple):
    """One part of the material."""

    name: str
    meaning: str
    """The description in the prompt."""
    missing_reason: str
    """The reason for `Unscored` if the input is missing."""
    read: Callable[[Subject], str | None]
    """Returns `None` if the input is not stated or not recorded, which differs from empty."""
    need: Need | None = None
    only_case: bool = False
    """Whether it is missing because of the case, and not because the trace is incomplete."""

    @property
    def of_case(self) -> bool:
        """Whether the case provides the input. A case without it asks nothing of the judge."""
        return self.only_case or (self.need or "").startswith("case.")


def _user(subject: Subject) -> str | None:
    messages = [(f"turn {pair.number}", _user_message(pair)) for pair in subject.pairs]
    recorded = [(turn, text) for turn, text in messages if text is not None]
    return formatting.with_headings(recorded) if recorded else None


def _user_message(pair: TurnPair) -> str | None:
    """Return the message in the trace, or else the one in the case."""
    turns = [turn for turn in (pair.actual, pair.golden) if turn]
    return next((turn.user for turn in turns if turn.user is not None), None)


def _response(subject: Subject) -> str | None:
    return subject.actual_turns[-1].response if subject.actual_turns else None


def _reference(subject: Subject) -> str | None:
    return subject.golden_turns[-1].response if subject.golden_turns else None


def _tool_calls(subject: Subject) -> str | None:
    recorded = [turn.tool_calls for turn in subject.actual_turns]
    if not recorded or any(calls is None for calls in recorded):
        return None
    return formatting.format_calls(call for calls in recorded for call in calls or ())


def _tool_results(subject: Subject) -> str | None:
    results = [
        formatting.format_result(result)
        for turn in subject.actual_turns
        for result in turn.tool_results
    ]
    called = any(turn.tool_calls for turn in subject.actual_turns)
    return "\n".join(results) or (None if called or _tool_calls(subject) is None else "(none)")


def _steps(subject: Subject) -> str | None:
    recorded = any(turn.tool_calls is not None for turn in subject.actual_turns)
    return formatting.format_steps(subject.actual_turns) if recorded else None


def _format_expected_calls(subject: Subject) -> str | None:
    stated = [turn.tool_calls for turn in subject.golden_turns if turn.tool_calls is not None]
    whole = subject.case.tool_calls
    if not stated and whole is None:
        return None
    return formatting.format_calls([*(call for calls in stated for call in calls), *(whole or ())])


def _agent_details(subject: Subject, key: str) -> Iterator[tuple[str, Json]]:
    """Yield a recorded property of each agent, once per agent."""
    shown_agents: set[str] = set()
    for turn in [*subject.actual_turns, *subject.golden_turns]:
        for agent, details in (turn.app or {}).items():
            value = details.get(key) if isinstance(details, dict) else None
            if value and agent not in shown_agents:
                shown_agents.add(agent)
                yield agent, value


def _read_extracted(subject: Subject, key: str) -> Json:
    """Return data that a simulation extracted and for which traces have no field."""
    data = subject.trace.attributes.get("extracted_data")
    return data.get(key) if isinstance(data, dict) else None


def _system_instructions(subject: Subject) -> str | None:
    texts = [
        (agent, formatting.to_text(text)) for agent, text in _agent_details(subject, "instructions")
    ]
    extracted = _read_extracted(subject, "system_instruction")
    instructions = (
        subject.trace.attributes.get("system_instructions") if extracted is None else extracted
    )
    if not texts and instructions is not None:
        texts = [("agent", formatting.to_text(instructions))]
    return _by_agent(texts)


def _available_tools(subject: Subject) -> str | None:
    texts = [
        (agent, formatting.to_text(tools))
        for agent, tools in _agent_details(subject, "tool_declarations")
    ]
    if texts:
        return _by_agent(texts)
    if subject.case.tools is not None:
        return "\n".join(subject.case.tools) or "(none)"
    extracted = _read_extracted(subject, "tool_declarations")
    return None if extracted is None else formatting.to_text(extracted)


def _by_agent(texts: list[tuple[str, str]]) -> str | None:
    # The names of agents are untrusted text, so they are not used as headings.
    numbered = enumerate(texts, 1)
    headed_texts = [(f"agent {number}", f"{name}\n{text}") for number, (name, text) in numbered]
    return formatting.with_headings(headed_texts) if headed_texts else None


def _trajectory(subject: Subject) -> str | None:
    agents = [agent for turn in subject.actual_turns for agent in turn.agents]
    return "\n".join(agents) or None


def _messages(subject: Subject) -> str | None:
    messages = [message for turn in subject.actual_turns for message in turn.messages]
    texts = [
        formatting.with_heading(f"message {number}", formatting.format_message(message))
        for number, message in enumerate(messages, 1)
    ]
    return "\n".join(texts) or None


def _grounding(subject: Subject) -> str | None:
    recorded = [turn.grounding for turn in subject.actual_turns if turn.grounding is not None]
    chunks = [formatting.to_text(chunk) for grounding in recorded for chunk in grounding]
    texts = [formatting.with_heading(f"chunk {n}", text) for n, text in enumerate(chunks, 1)]
    return "\n".join(texts) or ("(none)" if recorded else None)


def _conversation(subject: Subject) -> str | None:
    return formatting.format_dialogue(subject.turns_so_far)


def _history(subject: Subject) -> str | None:
    return formatting.format_dialogue(subject.turns_before)


def _json(value: Json) -> str | None:
    return None if value is None else formatting.to_text(value)


def _join_lines(texts: tuple[str, ...] | None) -> str | None:
    return None if texts is None else "\n".join(texts) or "(none)"


def _state(subject: Subject) -> str | None:
    return _json(subject.trace.state)


def _plan(subject: Subject) -> str | None:
    return subject.case.scenario.plan if subject.case.scenario else None


def _persona(subject: Subject) -> str | None:
    return _json(subject.case.scenario.persona) if subject.case.scenario else None


def _of_case(read: Callable[[Case], str | None]) -> Callable[[Subject], str | None]:
    return lambda subject: read(subject.case)


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
    Input(
        "history",
        "the conversation before this turn",
        "nothing was said before",
        _history,
        only_case=True,
    ),
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
        only_case=True,
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
        _format_expected_calls,
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
        _of_case(lambda case: _join_lines(case.trajectory)),
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
        _of_case(lambda case: _join_lines(case.contains)),
        "case.contains",
    ),
    Input(
        "reference_data",
        "further ground truth, under names of its own",
        "the case has no further ground truth",
        _of_case(lambda case: _json(case.reference or None)),
        only_case=True,
    ),
    Input(
        "metadata",
        "what else is known of the case",
        "the case has no metadata",
        _of_case(lambda case: _json(case.metadata or None)),
        only_case=True,
    ),
    Input(
        "plan",
        "what the simulated user is to do",
        "the case has no scenario",
        _plan,
        "case.scenario",
    ),
    Input(
        "persona",
        "how the simulated user is to behave",
        "the case has no persona",
        _persona,
        only_case=True,
    ),
)

INPUTS: Mapping[str, Input] = {item.name: item for item in _ALL}
