"""ADK EvalSet: the JSON format of google-adk and agentevals.

Thoughts are not part of the text of a content. Invocation events are read as the tool calls and
messages that they contain.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from msgspec import UNSET

from carob.datasets.document_types import OpenDocument, parse_document
from carob.datasets.formats import list_items
from carob.datasets.formats.adk_shape import (
    Content,
    EvalCase,
    EvalRubric,
    EvalSet,
    FunctionCall,
    FunctionResponse,
    IntermediateData,
    Invocation,
    InvocationEvent,
    Part,
    check_case,
)
from carob.datasets.formats.agents_cli import is_evaluation_dataset
from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.lens import RESERVED_KEY, Lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import (
    AgentMessage,
    Case,
    CaseSession,
    Dataset,
    Json,
    Problem,
    Rubric,
    Scenario,
    ToolCall,
    ToolResult,
    Turn,
)
from carob.text.spelling import fold_name


class _Header(OpenDocument):
    eval_set_id: str
    eval_cases: list[Any]
    name: str | None = None
    description: str | None = None
    creation_timestamp: float = 0.0


class AdkFormat:
    name = "adk"
    recognized_by = "an object with `eval_set_id` and `eval_cases`"
    containers: tuple[Container, ...] = ("document",)
    writable = True
    derives_ids = False
    items_keys = ("eval_cases",)
    shape: type = EvalSet

    def claims(self, sample: Json) -> bool:
        return (
            isinstance(sample, dict)
            and "eval_cases" in sample
            and not is_evaluation_dataset(sample)
        )

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=read_case,
            write=write_case,
            reserved_path=(RESERVED_KEY,),
            atomic=_is_atomic,
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return Lens(
            key=self.name,
            model=Dataset,
            read=_read_header,
            write=_write_header,
            reserved_path=(RESERVED_KEY,),
        )

    def check(self, item: Json) -> Iterator[Problem]:
        yield from check_case(item)


def _is_atomic(key: str, value: Json) -> bool:
    """Parts of a text, and events, are restored as a whole or not at all.

    After an edit, half of the old parts beside half of the new ones would be wrong data.
    """
    if key == "parts":
        return True
    is_intermediate = fold_name(key) == "intermediatedata"
    return is_intermediate and isinstance(value, dict) and _has_events(value)


def _has_events(value: Object) -> bool:
    return "invocation_events" in value or "invocationEvents" in value


def _read_header(doc: Json) -> Dataset:
    head = parse_document(doc, _Header)
    return Dataset(
        name=head.eval_set_id,
        title=head.name,
        description=head.description,
        created_at=timestamps.from_seconds(head.creation_timestamp),
    )


def _write_header(dataset: Dataset) -> Json:
    return without_nulls(
        eval_set_id=dataset.name,
        name=dataset.title,
        description=dataset.description,
        eval_cases=[],
        creation_timestamp=timestamps.to_seconds(dataset.created_at),
    )


def read_case(doc: Json) -> Case:
    """Read a case from an EvalCase."""
    shape = parse_document(doc, EvalCase)
    scenario, session = shape.conversation_scenario, shape.session_input
    return Case(
        id=shape.eval_id,
        turns=tuple([read_turn(invocation) for invocation in shape.conversation or ()]),
        scenario=scenario
        and Scenario(
            prompt=scenario.starting_prompt,
            plan=scenario.conversation_plan,
            persona=_plain(scenario.user_persona),
        ),
        session=session
        and CaseSession(
            app=session.app_name,
            user=session.user_id,
            id=session.session_id,
            state=session.state,
        ),
        rubrics=_read_rubrics(shape.rubrics),
        state=shape.final_session_state,
        created_at=timestamps.from_seconds(shape.creation_timestamp),
    )


def read_turn(invocation: Invocation) -> Turn:
    """Read a turn from an Invocation."""
    data, app = invocation.intermediate_data, invocation.app_details
    calls, results, messages = _read_intermediate(data) if data else (None, (), ())
    return Turn(
        user=_text(invocation.user_content),
        response=_text(invocation.final_response),
        tool_calls=calls,
        tool_results=results,
        messages=messages,
        id=invocation.invocation_id or None,
        rubrics=_read_rubrics(invocation.rubrics),
        app=app and cast("Object", _plain(app.agent_details)),
    )


def _plain(shape: object) -> Json:
    return cast("Json", msgspec.to_builtins(shape))


def _text(content: Content | None) -> str | None:
    return None if content is None else _join_texts(content.parts or [])


def _join_texts(parts: list[Part]) -> str:
    # Nearly always there is one part, and this function takes most of the time of large files.
    if len(parts) == 1 and not parts[0].thought:
        return parts[0].text or ""
    return "\n".join([part.text for part in parts if part.text and not part.thought])


_Intermediate = tuple[tuple[ToolCall, ...] | None, tuple[ToolResult, ...], tuple[AgentMessage, ...]]


def _read_intermediate(data: IntermediateData) -> _Intermediate:
    if data.invocation_events is not UNSET:
        return _read_events(data.invocation_events)
    uses, responses, texts = data.tool_uses, data.tool_responses, data.intermediate_responses
    return (  # google-adk omits empty lists, so a missing `tool_uses` means that none is expected
        () if uses is UNSET else tuple([_read_call(use) for use in uses]),
        tuple([_read_result(response) for response in responses]) if responses else (),
        tuple([AgentMessage(agent=agent, text=_join_texts(parts)) for agent, parts in texts])
        if texts
        else (),
    )


def _read_events(events: list[InvocationEvent]) -> _Intermediate:
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    messages: list[AgentMessage] = []
    for event in events:
        parts = (event.content and event.content.parts) or []
        for part in parts:
            if part.function_call:
                calls.append(_read_call(part.function_call))
            if part.function_response:
                results.append(_read_result(part.function_response))
        if text := _join_texts(parts):
            messages.append(AgentMessage(agent=event.author, text=text))
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
    """Write a case as an EvalCase."""
    scenario, session = case.scenario, case.session
    return without_nulls(
        eval_id=case.id,
        conversation=None if scenario else [_write_turn(turn) for turn in case.turns],
        conversation_scenario=scenario
        and without_nulls(
            starting_prompt=scenario.prompt,
            conversation_plan=scenario.plan,
            user_persona=_write_persona(scenario.persona),
        ),
        session_input=session
        and without_nulls(
            app_name=session.app,
            user_id=session.user,
            session_id=session.id,
            state=session.state or None,
        ),
        creation_timestamp=timestamps.to_seconds(case.created_at),
        rubrics=_write_rubrics(case.rubrics),
        final_session_state=case.state,
    )


def _write_persona(persona: Json) -> Json:
    """A full persona, or a name that google-adk knows; it rejects any other text."""
    is_known = isinstance(persona, dict) or persona in ("EXPERT", "NOVICE", "EVALUATOR")
    return persona if is_known else None


def _write_turn(turn: Turn) -> Json:
    return without_nulls(
        invocation_id=turn.id,
        user_content=_content("user", turn.user or ""),
        final_response=None if turn.response is None else _content("model", turn.response),
        intermediate_data=_write_intermediate(turn),
        rubrics=_write_rubrics(turn.rubrics),
        app_details=None if turn.app is None else {"agent_details": turn.app},
    )


def _content(role: str, text: str) -> Json:
    return {"parts": [{"text": text}], "role": role}


def _write_intermediate(turn: Turn) -> Json:
    calls = turn.tool_calls
    if calls is None:
        # google-adk reads `intermediate_data` without `tool_uses` as "no tool call expected".
        return None
    return without_nulls(
        tool_uses=[_write_call(call) for call in calls],
        tool_responses=[_write_result(result) for result in turn.tool_results] or None,
        intermediate_responses=[
            [message.agent, [{"text": message.text}]] for message in turn.messages
        ]
        or None,
    )


def _write_call(call: ToolCall) -> Json:
    args = call.args if isinstance(call.args, dict) else None
    return without_nulls(id=call.id, args=args, name=call.name)


def _write_result(result: ToolResult) -> Json:
    response = result.result
    wrapped = response if isinstance(response, dict) or response is None else {"result": response}
    return without_nulls(id=result.id, name=result.name, response=cast("Json", wrapped))


def _write_rubrics(rubrics: tuple[Rubric, ...]) -> Json:
    return [
        without_nulls(
            rubric_id=rubric.id,
            rubric_content={"text_property": rubric.text},
            description=rubric.description,
            type=rubric.type,
        )
        for rubric in rubrics
    ] or None
