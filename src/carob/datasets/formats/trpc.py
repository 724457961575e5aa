"""Evalsets of tRPC-agent-go: the idea of an ADK EvalSet under other keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carob.datasets.document_types import OpenDocument, parse_document
from carob.datasets.formats import list_items
from carob.datasets.lens import Lens, read_only_lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import (
    Case,
    CaseSession,
    Dataset,
    Json,
    Problem,
    Scenario,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
)


class TrpcMessage(OpenDocument):
    role: str = ""
    content: str | None = None


class TrpcTool(OpenDocument):
    name: str = ""
    id: str | None = None
    arguments: Any = None
    result: Any = None


class TrpcInvocation(OpenDocument, rename="camel"):
    invocation_id: str | None = None
    user_content: TrpcMessage | None = None
    final_response: TrpcMessage | None = None
    tools: list[TrpcTool] | None = None


class TrpcScenario(OpenDocument, rename="camel"):
    starting_prompt: str = ""
    conversation_plan: str = ""


class TrpcSession(OpenDocument, rename="camel"):
    app_name: str = ""
    user_id: str = ""
    state: dict[str, Any] | None = None


class TrpcCase(OpenDocument, rename="camel"):
    """A conversation to repeat, or a scenario to simulate."""

    eval_id: str
    conversation: list[TrpcInvocation] | None = None
    conversation_scenario: TrpcScenario | None = None
    actual_conversation: list[TrpcInvocation] | None = None
    session_input: TrpcSession | None = None


class TrpcEvalSet(OpenDocument, rename="camel"):
    """An evalset of tRPC-agent-go."""

    eval_cases: list[TrpcCase]
    eval_set_id: str | None = None
    name: str | None = None
    description: str | None = None


class _Header(OpenDocument, rename="camel"):
    eval_set_id: str | None = None
    name: str | None = None
    description: str | None = None


class TrpcFormat:
    name = "trpc"
    recognized_by = "an object with `evalCases` whose items have `evalId`"
    containers: tuple[Container, ...] = ("document",)
    writable = False
    derives_ids = False
    items_keys = ("evalCases",)
    shape: type = TrpcEvalSet

    def claims(self, sample: Json) -> bool:
        return isinstance(sample, dict) and "evalCases" in sample

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return read_only_lens(self.name, Case, _read_case)

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return read_only_lens(self.name, Dataset, lambda doc: _read_header(doc, stem))

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict) and not (
            item.get("conversation") or item.get("conversationScenario")
        ):
            yield Problem(where="$", message="no conversation and no scenario")


def _read_header(doc: Json, stem: str) -> Dataset:
    head = parse_document(doc, _Header)
    return Dataset(name=head.eval_set_id or stem, title=head.name, description=head.description)


def _read_case(doc: Json) -> Case:
    shape = parse_document(doc, TrpcCase)
    scenario, session, recorded = (
        shape.conversation_scenario,
        shape.session_input,
        shape.actual_conversation,
    )
    return Case(
        id=shape.eval_id,
        turns=tuple(map(_read_turn, shape.conversation or ())),
        scenario=scenario
        and Scenario(prompt=scenario.starting_prompt, plan=scenario.conversation_plan),
        session=session
        and CaseSession(app=session.app_name, user=session.user_id, state=session.state or {}),
        recorded=Trace(id=shape.eval_id, case=shape.eval_id, turns=tuple(map(_read_turn, recorded)))
        if recorded
        else None,
    )


def _read_turn(invocation: TrpcInvocation) -> Turn:
    user, response, tools = invocation.user_content, invocation.final_response, invocation.tools
    return Turn(
        id=invocation.invocation_id or None,
        user=user and user.content,
        response=response and response.content,
        tool_calls=None
        if tools is None
        else tuple(ToolCall(name=tool.name, args=tool.arguments, id=tool.id) for tool in tools),
        tool_results=tuple(
            ToolResult(name=tool.name, id=tool.id, result=tool.result)
            for tool in tools or ()
            if tool.result is not None
        ),
    )


def to_adk_invocation(invocation: Object) -> Object:
    """An invocation with the messages and tools of tRPC-agent-go, in the shape of ADK; any other
    is unchanged."""
    messages = (invocation.get("userContent"), invocation.get("finalResponse"))
    if not any(isinstance(it, dict) and isinstance(it.get("content"), str) for it in messages):
        return invocation
    shape = parse_document(invocation, TrpcInvocation)
    tools = shape.tools or ()
    adk: Object = {
        "invocation_id": shape.invocation_id or "",
        "user_content": _to_adk_content(shape.user_content),
        "final_response": shape.final_response and _to_adk_content(shape.final_response),
        "intermediate_data": {
            "tool_uses": [{"name": it.name, "args": it.arguments, "id": it.id} for it in tools],
            "tool_responses": [
                {"name": it.name, "id": it.id, "response": it.result}
                for it in tools
                if it.result is not None
            ],
        }
        if shape.tools is not None
        else None,
    }
    return {key: value for key, value in adk.items() if value is not None}


def _to_adk_content(message: TrpcMessage | None) -> Object:
    text = message.content if message else None
    return {
        "role": message.role if message else "",
        "parts": [] if text is None else [{"text": text}],
    }
