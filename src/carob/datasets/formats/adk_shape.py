"""The shape of an ADK EvalSet, as google-adk 2.13 accepts it."""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

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
from carob.datasets.shape import Base64, Closed, Open

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
