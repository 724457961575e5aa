"""The shape of an ADK EvalSet, as google-adk 2.13 accepts it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from carob.datasets.document_types import Base64, Closed, Open, member
from carob.datasets.formats.genai_shape import (
    Blob,
    CodeExecutionResult,
    ExecutableCode,
    FileData,
    GroundingMetadata,
    MediaResolution,
    PartialArg,
    PartToolCall,
    PartToolResponse,
    ResponsePart,
    SpeechMetadata,
    Transcription,
    UsageMetadata,
    VideoMetadata,
)
from carob.schema import Json, Problem
from carob.text.spelling import meant

_ADK = "google-adk"


class Ignored(Open):
    """Base of shapes that google-adk takes in one spelling only, and without unknown keys."""

    one_spelling: ClassVar[bool] = True
    dropped_by: ClassVar[str | None] = _ADK


class FunctionCall(Closed):
    id: str | None = None
    args: dict[str, Any] | None = None
    name: str | None = None
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class FunctionResponse(Closed):
    will_continue: bool | None = None
    scheduling: str | None = None
    parts: list[ResponsePart] | None = None
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(Closed):
    text: str | None = None
    thought: bool | None = None
    thought_signature: Base64 | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    executable_code: ExecutableCode | None = None
    code_execution_result: CodeExecutionResult | None = None
    video_metadata: VideoMetadata | None = None
    media_resolution: MediaResolution | None = None
    tool_call: PartToolCall | None = None
    tool_response: PartToolResponse | None = None
    part_metadata: dict[str, Any] | None = None
    audio_transcription: Transcription | None = None
    media_processing: str | None = None
    speech_metadata: SpeechMetadata | None = None


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
    dropped_by: ClassVar[str | None] = _ADK

    author: str
    content: Content | None = None
    grounding_metadata: GroundingMetadata | None = None
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None


class IntermediateData(Closed):
    """The way to a response: its tool calls, or the events that they happened in."""

    tool_uses: list[FunctionCall] | UnsetType = UNSET
    tool_responses: list[FunctionResponse] = []
    intermediate_responses: list[tuple[str, list[Part]]] = []
    invocation_events: list[InvocationEvent] | UnsetType = UNSET


class AgentDetails(Closed, omit_defaults=True):
    name: str
    instructions: str = ""
    tool_declarations: list[Any] = []


class AppDetails(Closed):
    agent_details: dict[str, AgentDetails] = {}


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


class UserBehavior(Ignored, omit_defaults=True):
    name: str
    description: str
    behavior_instructions: list[str]
    violation_rubrics: list[str]


class UserPersona(Ignored, omit_defaults=True):
    id: str
    description: str
    behaviors: list[UserBehavior]


class ConversationScenario(Closed):
    """A conversation to be simulated; the persona is the name of a known one, or one in full."""

    starting_prompt: str
    conversation_plan: str
    user_persona: str | UserPersona | None = None


class EvalCase(Open):
    """One golden test: a conversation, or a scenario to be simulated."""

    eval_id: str
    conversation: list[Invocation] | None = None
    conversation_scenario: ConversationScenario | None = None
    session_input: SessionInput | None = None
    creation_timestamp: float = 0.0
    rubrics: list[EvalRubric] | None = None
    final_session_state: dict[str, Any] | None = None


class EvalSet(Ignored):
    """Golden data for google-adk and agentevals."""

    eval_set_id: str
    eval_cases: list[EvalCase]
    name: str | None = None
    description: str | None = None
    creation_timestamp: float = 0.0


_PERSONAS = ("EXPERT", "NOVICE", "EVALUATOR")
_KINDS_OF_CASE = ("conversation", "conversation_scenario")


def check_case(item: Json) -> Iterator[Problem]:
    """Everything that is wrong with a case beyond its shape."""
    if not isinstance(item, dict):
        return
    found = [member(item, name) for name in _KINDS_OF_CASE]
    stated = [key for key, value in found if value is not None]
    if len(stated) != 1:
        yield Problem(
            where="$",
            message=f"found {' and '.join(stated) or 'neither'}, "
            "expected exactly one of conversation and conversation_scenario",
            hint="remove one of them" if stated else "add `conversation`, a list of turns",
        )
    (key, conversation), (scenario_key, scenario) = found
    if conversation == []:
        yield Problem(
            where=f"$.{key}", message="no turns", hint="add at least one", severity="warning"
        )
    for index, turn in enumerate(conversation if isinstance(conversation, list) else []):
        yield from _check_turn(turn, f"$.{key}[{index}]")
    yield from _check_persona(scenario, f"$.{scenario_key}")


def _check_persona(scenario: Json, path: str) -> Iterator[Problem]:
    key, persona = member(scenario, "user_persona")
    if isinstance(persona, str) and persona not in _PERSONAS:
        yield Problem(
            where=f"{path}.{key}",
            message=f"found {persona!r}, expected {', '.join(_PERSONAS)} or a persona in full",
            hint=meant(persona, _PERSONAS),
        )


def _check_turn(turn: Json, path: str) -> Iterator[Problem]:
    key, data = member(turn, "intermediate_data")
    path = f"{path}.{key}"
    if not isinstance(data, dict):
        return
    events_key, events = member(data, "invocation_events")
    if events_key in data:
        others = [name for name in data if name != events_key]
        if others:
            yield Problem(
                where=path,
                message=f"found {events_key} and {', '.join(others)}, expected one or the other",
                hint="events hold the tool calls already",
            )
        yield from _check_calls(list(_in_events(events, f"{path}.{events_key}")))
    else:
        yield from _check_calls(list(_in_lists(data, path)))


_Call = tuple[str, str, Json]
"""`call` or `response`, where it is, and what it says."""


def _in_lists(data: Json, path: str) -> Iterator[_Call]:
    for name, what in (("tool_uses", "call"), ("tool_responses", "response")):
        key, found = member(data, name)
        for index, value in enumerate(found if isinstance(found, list) else []):
            yield what, f"{path}.{key}[{index}]", value


def _in_events(events: Json, path: str) -> Iterator[_Call]:
    for number, event in enumerate(events if isinstance(events, list) else []):
        content_key, content = member(event, "content")
        parts_key, parts = member(content, "parts")
        for index, part in enumerate(parts if isinstance(parts, list) else []):
            place = f"{path}[{number}].{content_key}.{parts_key}[{index}]"
            for name, what in (("function_call", "call"), ("function_response", "response")):
                key, found = member(part, name)
                if found is not None:
                    yield what, f"{place}.{key}", found


def _check_calls(said: list[_Call]) -> Iterator[Problem]:
    calls = [(path, value) for what, path, value in said if what == "call"]
    responses = [(path, value) for what, path, value in said if what == "response"]
    for path, call in calls:
        yield from _check_call(call, path)
    yield from _check_pairs(calls, responses)


def _check_call(call: Json, path: str) -> Iterator[Problem]:
    if not isinstance(call, dict):
        return
    if not call.get("name"):
        yield Problem(
            where=path,
            message="a call without a name",
            hint="add 'name': the tool's name",
            severity="warning",
        )
    if call.get("args") is None:
        yield Problem(
            where=path,
            message="a call without 'args', which for google-adk never equals a recorded one",
            hint='write "args": {} for a call without arguments',
            severity="warning",
        )


def _check_pairs(
    calls: list[tuple[str, Json]], responses: list[tuple[str, Json]]
) -> Iterator[Problem]:
    """Calls and responses belong together by their ids."""
    answered = {_id(response) for _, response in responses}
    called: set[str | None] = set()
    for path, call in calls:
        name = _id(call)
        if name is not None and name in called:
            yield Problem(
                where=path,
                message=f"the call id {name!r} is there twice",
                hint="give each call an id of its own",
                severity="warning",
            )
        called.add(name)
        if name is not None and responses and name not in answered:
            message = f"the call {name!r} has no response"
            yield Problem(where=path, message=message, severity="note")
    for path, response in responses:
        name = _id(response)
        if name is not None and name not in called:
            yield Problem(
                where=path,
                message=f"a response to {name!r}, and no call has this id",
                hint=meant(name, filter(None, called)) or "use the id of the call that it answers",
                severity="warning",
            )


def _id(call: Json) -> str | None:
    found = call.get("id") if isinstance(call, dict) else None
    return found if isinstance(found, str) else None
