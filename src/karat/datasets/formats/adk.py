"""ADK EvalSet: the JSON that google-adk reads and writes, and agentevals with it.

Thoughts in a content are not part of its text. A case's recorded events are read as the tool calls
and messages that they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from karat.datasets import clock
from karat.datasets.formats import listed
from karat.datasets.formats.reference import stated
from karat.datasets.lens import KEY, Lens
from karat.datasets.patch import Object
from karat.datasets.shape import Closed, Open, fit
from karat.datasets.source import Container
from karat.schema import (
    Case,
    Dataset,
    Json,
    Message,
    Problem,
    Rubric,
    Scenario,
    Session,
    ToolCall,
    ToolResult,
    Turn,
)


class FunctionCall(Closed):
    id: str | None = None
    args: dict[str, Any] | None = None
    name: str | None = None
    partial_args: list[Any] | None = None
    will_continue: bool | None = None


class FunctionResponse(Closed):
    will_continue: bool | None = None
    scheduling: str | None = None
    parts: list[Any] | None = None
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(Closed):
    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: dict[str, Any] | None = None
    file_data: dict[str, Any] | None = None
    executable_code: dict[str, Any] | None = None
    code_execution_result: dict[str, Any] | None = None
    video_metadata: dict[str, Any] | None = None
    media_resolution: Any = None
    tool_call: dict[str, Any] | None = None
    tool_response: dict[str, Any] | None = None
    part_metadata: dict[str, Any] | None = None
    audio_transcription: dict[str, Any] | None = None
    media_processing: Any = None
    speech_metadata: Any = None


class Content(Closed):
    parts: list[Part] | None = None
    role: str | None = None


class RubricContent(Closed):
    text_property: str | None = None


class EvalRubric(Closed):
    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None


class InvocationEvent(Open):
    author: str
    content: Content | None = None
    grounding_metadata: dict[str, Any] | None = None
    usage_metadata: dict[str, Any] | None = None
    model_version: str | None = None


class IntermediateData(Closed):
    """The way to a response: its tool calls, or the events that they happened in."""

    tool_uses: list[FunctionCall] | None = None
    tool_responses: list[FunctionResponse] | None = None
    intermediate_responses: list[tuple[str, list[Part]]] | None = None
    invocation_events: list[InvocationEvent] | None = None


class AppDetails(Closed):
    agent_details: dict[str, dict[str, Any]] = {}


class Invocation(Closed):
    """One user message and what should follow it."""

    user_content: Content
    invocation_id: str = ""
    final_response: Content | None = None
    intermediate_data: IntermediateData | None = None
    creation_timestamp: float = 0.0
    duration: float | None = None
    model_duration: float | None = None
    tool_duration: float | None = None
    rubrics: list[EvalRubric] | None = None
    app_details: AppDetails | None = None


class SessionInput(Open):
    app_name: str
    user_id: str
    session_id: str | None = None
    state: dict[str, Any] = {}


class ConversationScenario(Closed):
    starting_prompt: str
    conversation_plan: str
    user_persona: str | dict[str, Any] | None = None


class EvalCase(Open):
    """One golden test: a conversation, or a scenario to be simulated."""

    eval_id: str
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    creation_timestamp: float = 0.0
    rubrics: list[EvalRubric] | None = None
    final_session_state: dict[str, Any] | None = None


class EvalSet(Open):
    """Golden data for google-adk and agentevals."""

    eval_set_id: str
    eval_cases: list[EvalCase]
    name: str | None = None
    description: str | None = None
    creation_timestamp: float = 0.0


class _Header(Open):
    eval_set_id: str
    eval_cases: list[Any]
    name: str | None = None
    description: str | None = None
    creation_timestamp: float = 0.0


class Adk:
    name = "adk"
    sought = "an object with `eval_set_id` and `eval_cases`"
    containers: tuple[Container, ...] = ("document",)
    writable = True
    derives_ids = False
    items_keys = ("eval_cases",)
    shape: type = EvalSet

    def claims(self, sample: Json) -> bool:
        return isinstance(sample, dict) and "eval_cases" in sample

    def items(self, document: Json) -> list[Json]:
        return listed(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            noun=Case,
            read=read_case,
            write=write_case,
            open_at=(KEY,),
            atomic=_atomic,
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return Lens(
            key=self.name, noun=Dataset, read=_read_header, write=_write_header, open_at=(KEY,)
        )

    def check(self, item: Json) -> Iterator[Problem]:
        yield from ()


def _atomic(key: str, value: Json) -> bool:
    """Text that was split into parts, and calls that were told as events, are taken as a whole:
    half of the old one beside half of an edited one would be nobody's data."""
    if key == "parts":
        return True
    folded = key.replace("_", "").lower()
    return folded == "intermediatedata" and isinstance(value, dict) and _has_events(value)


def _has_events(value: Object) -> bool:
    return "invocation_events" in value or "invocationEvents" in value


def _read_header(doc: Json) -> Dataset:
    head = fit(doc, _Header)
    return Dataset(
        name=head.eval_set_id,
        title=head.name,
        description=head.description,
        created_at=clock.from_seconds(head.creation_timestamp),
    )


def _write_header(dataset: Dataset) -> Json:
    return stated(
        eval_set_id=dataset.name,
        name=dataset.title,
        description=dataset.description,
        eval_cases=[],
        creation_timestamp=clock.to_seconds(dataset.created_at),
    )


def read_case(doc: Json) -> Case:
    """A case from an EvalCase."""
    shape = fit(doc, EvalCase)
    scenario, session = shape.conversation_scenario, shape.session_input
    return Case(
        id=shape.eval_id,
        turns=tuple([read_turn(invocation) for invocation in shape.conversation or ()]),
        scenario=scenario
        and Scenario(
            prompt=scenario.starting_prompt,
            plan=scenario.conversation_plan,
            persona=scenario.user_persona,
        ),
        session=session
        and Session(
            app=session.app_name,
            user=session.user_id,
            id=session.session_id,
            state=session.state,
        ),
        rubrics=_read_rubrics(shape.rubrics),
        state=shape.final_session_state,
        created_at=clock.from_seconds(shape.creation_timestamp),
    )


def read_turn(invocation: Invocation) -> Turn:
    """A turn from an Invocation."""
    data = invocation.intermediate_data
    calls, results, messages = _read_way(data) if data else (None, (), ())
    return Turn(
        user=_text(invocation.user_content),
        response=_text(invocation.final_response),
        tool_calls=calls,
        tool_results=results,
        messages=messages,
        id=invocation.invocation_id or None,
        rubrics=_read_rubrics(invocation.rubrics),
        app=invocation.app_details and dict(invocation.app_details.agent_details),
    )


def _text(content: Content | None) -> str | None:
    return None if content is None else _joined(content.parts or [])


def _joined(parts: list[Part]) -> str:
    if len(parts) == 1 and not parts[0].thought:  # nearly always, and this is the hot path
        return parts[0].text or ""
    return "\n".join([part.text for part in parts if part.text and not part.thought])


_Way = tuple[tuple[ToolCall, ...] | None, tuple[ToolResult, ...], tuple[Message, ...]]


def _read_way(data: IntermediateData) -> _Way:
    if data.invocation_events is not None:
        return _read_events(data.invocation_events)
    uses, responses, said = data.tool_uses, data.tool_responses, data.intermediate_responses
    return (
        None if uses is None else tuple([_read_call(use) for use in uses]),
        tuple([_read_result(response) for response in responses]) if responses else (),
        tuple([Message(agent=agent, text=_joined(parts)) for agent, parts in said]) if said else (),
    )


def _read_events(events: list[InvocationEvent]) -> _Way:
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    messages: list[Message] = []
    for event in events:
        parts = (event.content and event.content.parts) or []
        for part in parts:
            if part.function_call:
                calls.append(_read_call(part.function_call))
            if part.function_response:
                results.append(_read_result(part.function_response))
        if text := _joined(parts):
            messages.append(Message(agent=event.author, text=text))
    return tuple(calls), tuple(results), tuple(messages)


def _read_call(call: FunctionCall) -> ToolCall:
    return ToolCall(name=call.name or "", args=call.args, id=call.id)


def _read_result(response: FunctionResponse) -> ToolResult:
    return ToolResult(name=response.name, id=response.id, result=response.response)


def _read_rubrics(rubrics: list[EvalRubric] | None) -> tuple[Rubric, ...]:
    if not rubrics:
        return ()
    return tuple(
        Rubric(
            id=rubric.rubric_id,
            text=rubric.rubric_content.text_property or "",
            description=rubric.description,
            type=rubric.type,
        )
        for rubric in rubrics
    )


def write_case(case: Case) -> Json:
    """An EvalCase from a case."""
    scenario, session = case.scenario, case.session
    return stated(
        eval_id=case.id,
        conversation=None if scenario else [_write_turn(turn) for turn in case.turns],
        conversation_scenario=scenario
        and stated(
            starting_prompt=scenario.prompt,
            conversation_plan=scenario.plan,
            user_persona=scenario.persona,
        ),
        session_input=session
        and stated(
            app_name=session.app,
            user_id=session.user,
            session_id=session.id,
            state=session.state or None,
        ),
        creation_timestamp=clock.to_seconds(case.created_at),
        rubrics=_write_rubrics(case.rubrics),
        final_session_state=case.state,
    )


def _write_turn(turn: Turn) -> Json:
    return stated(
        invocation_id=turn.id,
        user_content=_content("user", turn.user or ""),
        final_response=None if turn.response is None else _content("model", turn.response),
        intermediate_data=_write_way(turn),
        rubrics=_write_rubrics(turn.rubrics),
        app_details=None if turn.app is None else {"agent_details": turn.app},
    )


def _content(role: str, text: str) -> Json:
    return {"parts": [{"text": text}], "role": role}


def _write_way(turn: Turn) -> Json:
    calls = turn.tool_calls
    if calls is None and not turn.tool_results and not turn.messages:
        return None
    return stated(
        tool_uses=None if calls is None else [_write_call(call) for call in calls],
        tool_responses=[_write_result(result) for result in turn.tool_results] or None,
        intermediate_responses=[
            [message.agent, [{"text": message.text}]] for message in turn.messages
        ]
        or None,
    )


def _write_call(call: ToolCall) -> Json:
    args = call.args if isinstance(call.args, dict) else None
    return stated(id=call.id, args=args, name=call.name)


def _write_result(result: ToolResult) -> Json:
    response = result.result
    wrapped = response if isinstance(response, dict) or response is None else {"result": response}
    return stated(id=result.id, name=result.name, response=cast("Json", wrapped))


def _write_rubrics(rubrics: tuple[Rubric, ...]) -> Json:
    return [
        stated(
            rubric_id=rubric.id,
            rubric_content={"text_property": rubric.text},
            description=rubric.description,
            type=rubric.type,
        )
        for rubric in rubrics
    ] or None
