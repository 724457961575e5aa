"""Build turns from messages, in the order in which they were written."""

from __future__ import annotations

import msgspec

from carob.schema import AgentMessage, Json, ModelCall, ToolCall, ToolResult, Turn
from carob.traces.messages.message import CallBlock, Message, ResultBlock

TOOL_FAILED = "the tool failed"
"""The error of a tool that failed without a text."""


class _OpenTurn(msgspec.Struct, gc=False):
    """The turn that is being built."""

    id: str | None = None
    user: str | None = None
    answers: list[AgentMessage] = []
    calls: list[ToolCall] = []
    call_indexes: dict[str, int] = {}
    """The positions of the calls, by their ids."""
    results: list[ToolResult] = []
    model_calls: list[ModelCall] = []
    agents: list[str] = []
    grounding: list[Json] = []
    error: str | None = None
    unanswered: bool = False
    calls_recorded: bool = True
    spoken: bool = False
    """Whether there is a message of an agent, even if it is empty."""
    times: list[int] = []

    @property
    def has_content(self) -> bool:
        said = self.user is not None
        return bool(said or self.answers or self.calls or self.results or self.error)

    @property
    def has_all_calls(self) -> bool:
        """Whether there are no other calls. Without anything of an agent, nothing is known; results
        without a call show that calls are not recorded."""
        has_agent = self.spoken or self.answers or self.error
        return bool(self.calls or (self.calls_recorded and has_agent and not self.results))


class TurnBuilder:
    """Collects messages and events, and starts a new turn at each user message.

    Agent messages before the first user message belong to the first turn.
    """

    def __init__(self) -> None:
        self._finished: list[Turn] = []
        self._turn = _OpenTurn()

    def add_message(self, message: Message, *, agent: str | None = None) -> None:
        """Add a message; `agent` is the name of the agent that wrote it, if known.

        Anthropic, Bedrock and Gemini return tool results in the user's name. Calls in the user's
        name are ignored: in tau²-bench the simulated user has tools of its own.
        """
        if message.role == "user":
            self._add_results(message.results)
            if message.text is not None and (message.text or not message.results):
                self.add_user_text(message.text)
        elif message.role == "assistant":
            self.add_agent(agent)
            self._turn.spoken = True
            if message.text:
                self.add_answer(agent or "", message.text)
            for call in message.calls:
                self.add_call(_tool_call(call, agent))
            if message.partial:
                self.mark_calls_unknown()
            self._add_results(message.results)
        elif message.role == "tool":
            self._add_results(message.results)

    def _add_results(self, results: list[ResultBlock]) -> None:
        for result in results:
            self.add_result(_tool_result(result))

    def start_turn(self, turn_id: str | None) -> None:
        """Start a new turn, whoever writes its first message."""
        if self._turn.has_content:
            self._finish_turn()
        self._turn.id = turn_id

    def add_user_text(self, text: str) -> None:
        """Add a user's text; it starts a new turn, also if the last one is still unanswered: two
        questions that were glued would be a question that nobody asked."""
        if self._turn.user is not None:
            self._finish_turn()
        self._turn.user = text

    def add_answer(self, agent: str, text: str) -> None:
        """Add a text that an agent wrote."""
        self._turn.answers.append(AgentMessage(agent=agent, text=text))

    def add_agent(self, name: str | None) -> None:
        """Note that an agent takes over."""
        if name and self._turn.agents[-1:] != [name]:
            self._turn.agents.append(name)

    def add_call(self, call: ToolCall) -> None:
        """Add a tool call."""
        if call.id is not None:
            self._turn.call_indexes[call.id] = len(self._turn.calls)
        self._turn.calls.append(call)

    def add_result(self, result: ToolResult, *, time: int | None = None) -> None:
        """Add a tool result; a result without a tool name takes the name of its call."""
        turn = self._turn
        index = turn.call_indexes.get(result.id) if result.id is not None else None
        if index is not None:
            call = msgspec.structs.replace(turn.calls[index], end=time)
            turn.calls[index] = call
            if result.name is None:
                result = msgspec.structs.replace(result, name=call.name)
        turn.results.append(result)

    def add_model_call(self, call: ModelCall) -> None:
        """Add a model call."""
        self._turn.model_calls.append(call)

    def add_grounding(self, chunks: list[Json]) -> None:
        """Add retrieved chunks that the answer is based on."""
        self._turn.grounding.extend(chunks)

    def add_error(self, error: str) -> None:
        """Note an error; the first one counts."""
        self._turn.error = self._turn.error or error

    def mark_unanswered(self) -> None:
        """Note that no response was recorded: every text so far is an intermediate one."""
        self._turn.unanswered = True

    def mark_calls_unknown(self) -> None:
        """Note that this turn may have called tools that are not recorded as calls."""
        self._turn.calls_recorded = False

    @property
    def last_answer(self) -> str | None:
        """The last text of an agent in this turn."""
        return self._turn.answers[-1].text if self._turn.answers else None

    def add_time(self, time: int | None) -> None:
        """Note a time within the turn."""
        if time is not None:
            self._turn.times.append(time)

    def turns(self) -> tuple[Turn, ...]:
        """Return all turns so far."""
        if self._turn.has_content:
            return (*self._finished, self._build())
        return tuple(self._finished)

    def _finish_turn(self) -> None:
        self._finished.append(self._build())
        self._turn = _OpenTurn()

    def _build(self) -> Turn:
        turn = self._turn
        final = None if turn.unanswered or not turn.answers else turn.answers[-1]
        return Turn(
            id=turn.id,
            user=turn.user,
            response=final.text if final else None,
            messages=tuple(turn.answers[:-1] if final else turn.answers),
            tool_calls=tuple(turn.calls) if turn.has_all_calls else None,
            tool_results=tuple(turn.results),
            agents=tuple(turn.agents),
            model_calls=tuple(turn.model_calls),
            grounding=tuple(turn.grounding) or None,
            error=turn.error,
            start=min(turn.times, default=None),
            # One time is not a duration: it would be zero, which nobody measured.
            end=max(turn.times) if len(turn.times) > 1 else None,
        )


def _tool_call(call: CallBlock, agent: str | None) -> ToolCall:
    return ToolCall(name=call.name, args=call.args, id=call.id, agent=agent)


def _tool_result(result: ResultBlock) -> ToolResult:
    return ToolResult(name=result.name, id=result.id, result=result.value, error=error_text(result))


def error_text(result: ResultBlock) -> str | None:
    """Return why a tool call failed; `None` if it did not."""
    if not result.error:
        return None
    if result.reason:
        return result.reason
    return result.value if isinstance(result.value, str) and result.value else TOOL_FAILED
