"""The types of an ADK EvalSet as google-adk 2.13 accepts it, and the rules beyond them.

What google-adk rejects is an error. What it accepts but scores in an unexpected way is a warning:
for `tool_trajectory_avg_score`, missing expected arguments do not equal `{}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from carob.datasets.document_types import Base64, ClosedDocument, OpenDocument, find_member
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
from carob.text.spelling import did_you_mean

_ADK = "google-adk"


class Ignored(OpenDocument):
    """Base of types that google-adk reads in one spelling only, dropping unknown keys."""

    one_spelling: ClassVar[bool] = True
    dropped_by: ClassVar[str | None] = _ADK


class FunctionCall(ClosedDocument):
    id: str | None = None
    args: dict[str, Any] | None = None
    name: str | None = None
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class FunctionResponse(ClosedDocument):
    will_continue: bool | None = None
    scheduling: str | None = None
    parts: list[ResponsePart] | None = None
    id: str | None = None
    name: str | None = None
    response: dict[str, Any] | None = None


class Part(ClosedDocument):
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


class Content(ClosedDocument):
    parts: list[Part] | None = None
    role: str | None = None


class RubricContent(ClosedDocument):
    text_property: str | None = None


class EvalRubric(ClosedDocument):
    rubric_id: str
    rubric_content: RubricContent
    description: str | None = None
    type: str | None = None


class InvocationEvent(OpenDocument):
    dropped_by: ClassVar[str | None] = _ADK

    author: str
    content: Content | None = None
    grounding_metadata: GroundingMetadata | None = None
    usage_metadata: UsageMetadata | None = None
    model_version: str | None = None


class IntermediateData(ClosedDocument):
    """What happens before a response: tool calls and messages, or the events with them."""

    tool_uses: list[FunctionCall] | UnsetType = UNSET
    tool_responses: list[FunctionResponse] = []
    intermediate_responses: list[tuple[str, list[Part]]] = []
    invocation_events: list[InvocationEvent] | UnsetType = UNSET


class AgentDetails(ClosedDocument, omit_defaults=True):
    name: str
    instructions: str = ""
    tool_declarations: list[Any] = []


class AppDetails(ClosedDocument):
    agent_details: dict[str, AgentDetails] = {}


class Invocation(ClosedDocument):
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


class SessionInput(OpenDocument):
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


class ConversationScenario(ClosedDocument):
    """A conversation to simulate; the persona is a predefined name or a full persona."""

    starting_prompt: str
    conversation_plan: str
    user_persona: str | UserPersona | None = None


class EvalCase(OpenDocument):
    """One golden test: a conversation, or a scenario to simulate."""

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
_CONVERSATION_FIELDS = ("conversation", "conversation_scenario")


def check_case(item: Json) -> Iterator[Problem]:
    """Problems of an EvalCase beyond its type."""
    if not isinstance(item, dict):
        return
    members = [find_member(item, name) for name in _CONVERSATION_FIELDS]
    stated = [key for key, value in members if value is not None]
    if len(stated) != 1:
        yield Problem(
            where="$",
            message="expected exactly one of conversation and conversation_scenario, "
            f"got {'both' if stated else 'neither'}",
            hint="remove one of them" if stated else "add 'conversation': a list of turns",
        )
    (key, conversation), (scenario_key, scenario) = members
    if conversation == []:
        yield Problem(
            where=f"$.{key}", message="no turns", hint="add at least one turn", severity="warning"
        )
    for index, turn in enumerate(conversation if isinstance(conversation, list) else []):
        yield from _check_turn(turn, f"$.{key}[{index}]")
    yield from _check_persona(scenario, f"$.{scenario_key}")


def _check_persona(scenario: Json, path: str) -> Iterator[Problem]:
    key, persona = find_member(scenario, "user_persona")
    if isinstance(persona, str) and persona not in _PERSONAS:
        yield Problem(
            where=f"{path}.{key}",
            message=f"expected {', '.join(_PERSONAS)} or a full persona, got {persona!r}",
            hint=did_you_mean(persona, _PERSONAS),
        )


def _check_turn(turn: Json, path: str) -> Iterator[Problem]:
    key, data = find_member(turn, "intermediate_data")
    path = f"{path}.{key}"
    if not isinstance(data, dict):
        return
    events_key, events = find_member(data, "invocation_events")
    if events_key in data:
        list_keys = [name for name in data if name != events_key]
        if list_keys:
            yield Problem(
                where=path,
                message=f"expected either {events_key} or {', '.join(list_keys)}, got both",
                hint="events already contain the tool calls",
            )
        yield from _check_calls(list(_in_events(events, f"{path}.{events_key}")))
    else:
        yield from _check_calls(list(_in_lists(data, path)))


_Call = tuple[str, str, Json]
"""`call` or `response`, its path, and its value."""


def _in_lists(data: Json, path: str) -> Iterator[_Call]:
    for name, what in (("tool_uses", "call"), ("tool_responses", "response")):
        key, values = find_member(data, name)
        for index, value in enumerate(values if isinstance(values, list) else []):
            yield what, f"{path}.{key}[{index}]", value


def _in_events(events: Json, path: str) -> Iterator[_Call]:
    for number, event in enumerate(events if isinstance(events, list) else []):
        content_key, content = find_member(event, "content")
        parts_key, parts = find_member(content, "parts")
        for index, part in enumerate(parts if isinstance(parts, list) else []):
            part_path = f"{path}[{number}].{content_key}.{parts_key}[{index}]"
            for name, what in (("function_call", "call"), ("function_response", "response")):
                key, value = find_member(part, name)
                if value is not None:
                    yield what, f"{part_path}.{key}", value


def _check_calls(entries: list[_Call]) -> Iterator[Problem]:
    calls = [(path, value) for what, path, value in entries if what == "call"]
    responses = [(path, value) for what, path, value in entries if what == "response"]
    for path, call in calls:
        yield from _check_call(call, path)
    yield from _check_pairs(calls, responses)


def _check_call(call: Json, path: str) -> Iterator[Problem]:
    if not isinstance(call, dict):
        return
    if not call.get("name"):
        yield Problem(
            where=path,
            message="missing field 'name'",
            hint="add 'name': the name of the tool",
            severity="warning",
        )
    if call.get("args") is None:
        yield Problem(
            where=path,
            message="missing field 'args': google-adk never matches this call",
            hint='write "args": {} for a call without arguments',
            severity="warning",
        )


def _check_pairs(
    calls: list[tuple[str, Json]], responses: list[tuple[str, Json]]
) -> Iterator[Problem]:
    """Match calls and responses by id."""
    answered = {_id(response) for _, response in responses}
    called: set[str | None] = set()
    for path, call in calls:
        name = _id(call)
        if name is not None and name in called:
            yield Problem(
                where=path,
                message=f"duplicate call id {name!r}",
                hint="ids must be unique",
                severity="warning",
            )
        called.add(name)
        if name is not None and responses and name not in answered:
            message = f"no response to the call {name!r}"
            yield Problem(where=path, message=message, severity="note")
    for path, response in responses:
        name = _id(response)
        if name is not None and name not in called:
            yield Problem(
                where=path,
                message=f"response to an unknown call {name!r}",
                hint=did_you_mean(name, filter(None, called)) or "use the id of the call",
                severity="warning",
            )


def _id(call: Json) -> str | None:
    call_id = call.get("id") if isinstance(call, dict) else None
    return call_id if isinstance(call_id, str) else None
