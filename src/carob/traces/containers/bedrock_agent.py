"""Amazon Bedrock agents: the trace parts that `InvokeAgent` returns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in

_TRACES = (
    "preProcessingTrace",
    "orchestrationTrace",
    "postProcessingTrace",
    "routingClassifierTrace",
    "customOrchestrationTrace",
    "failureTrace",
    "guardrailTrace",
)
_TEXT = re.compile(r"\A\[\{text=(.*), type=text\}\]\Z", re.DOTALL)
"""How a message of the prompt has its text, printed by Java."""


class BedrockAgent:
    """Parts whose `trace` has one of Bedrock's kinds, alone or in the event around it."""

    name = "bedrock-agent"

    def claims(self, item: Json) -> bool:
        parts = as_array(item)
        return bool(parts) and all(map(self.claims_line, parts))

    def claims_line(self, item: Json) -> bool:
        return not set(_TRACES).isdisjoint(as_object(_part(item).get("trace")))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        sessions: dict[str | None, list[dict[str, Json]]] = {}
        for part in map(_part, as_array(item)):
            sessions.setdefault(as_text(part.get("sessionId")), []).append(part)
        for session, parts in sessions.items():
            reader = _SessionReader()
            for part in parts:
                reader.add(part)
            if turns := reader.builder.turns():
                yield Trace(
                    id=session or content_digest_id([*parts]),
                    turns=turns,
                    source=source,
                    convention="bedrock-agent",
                    mapper="bedrock-agent@1",
                    conversation=session,
                )


def _part(item: Json) -> dict[str, Json]:
    fields = as_object(item)
    inner = as_object(fields.get("trace"))
    return inner if isinstance(inner.get("trace"), dict) else fields


class _SessionReader:
    """Builds the turns of one session."""

    def __init__(self) -> None:
        self.builder = TurnBuilder()
        self._is_asked = False
        self._model: str | None = None
        self._tool = ""

    def add(self, part: dict[str, Json]) -> None:
        agent = as_text(part.get("collaboratorName"))
        traces = as_object(part.get("trace"))
        if reason := as_text(as_object(traces.get("failureTrace")).get("failureReason")):
            self.builder.add_error(reason)
        for kind in _TRACES[:4]:
            step = as_object(traces.get(kind))
            self._add_model_call(step, agent)
            if kind == "orchestrationTrace":
                self._add_invocation(as_object(step.get("invocationInput")), agent)
                self._add_observation(as_object(step.get("observation")), agent)
        self.builder.add_time(instant(part.get("eventTime")))

    def _add_model_call(self, step: dict[str, Json], agent: str | None) -> None:
        request = as_object(step.get("modelInvocationInput"))
        if request:
            self._model = as_text(request.get("foundationModel")) or self._model
            if (
                agent is None
                and not self._is_asked
                and (text := _find_user_text(request.get("text")))
            ):
                self.builder.add_user_text(text)
                self._is_asked = True
        metadata = as_object(as_object(step.get("modelInvocationOutput")).get("metadata"))
        if usage := usage_of(metadata.get("usage")):
            call = ModelCall(model=self._model, usage=usage, agent=agent)
            self.builder.add_model_call(call)

    def _add_invocation(self, invocation: dict[str, Json], agent: str | None) -> None:
        action = as_object(invocation.get("actionGroupInvocationInput"))
        lookup = as_object(invocation.get("knowledgeBaseLookupInput"))
        code = as_object(invocation.get("codeInterpreterInvocationInput"))
        other = as_object(invocation.get("agentCollaboratorInvocationInput"))
        args: dict[str, Json] = {}
        if action:
            name = as_text(action.get("function")) or as_text(action.get("apiPath")) or ""
            args = _parameters(action.get("parameters"))
            for content in as_object(as_object(action.get("requestBody")).get("content")).values():
                args |= _parameters(content)
        elif lookup:
            name, args = "knowledge_base", {"text": lookup.get("text")}
        elif code:
            name, args = "code_interpreter", {"code": code.get("code")}
        elif other:
            name = as_text(other.get("agentCollaboratorName")) or ""
            args = {"text": as_object(other.get("input")).get("text")}
        else:
            return
        self._tool = name
        self.builder.add_agent(agent)
        self.builder.add_call(ToolCall(name=name, args=args, agent=agent))

    def _add_observation(self, observation: dict[str, Json], agent: str | None) -> None:
        action = as_object(observation.get("actionGroupInvocationOutput")).get("text")
        lookup = observation.get("knowledgeBaseLookupOutput")
        code = as_object(observation.get("codeInterpreterInvocationOutput"))
        other = as_object(observation.get("agentCollaboratorInvocationOutput"))
        final = as_text(as_object(observation.get("finalResponse")).get("text"))
        error = as_text(code.get("executionError"))
        results = (
            decode_structure(action),
            as_object(lookup).get("retrievedReferences"),
            code.get("executionOutput"),
            as_object(other.get("output")).get("text"),
        )
        result = next((value for value in results if value is not None), None)
        if result is not None or error:
            self.builder.add_result(ToolResult(name=self._tool, result=result, error=error))
        if final is not None and agent is None:
            self.builder.add_answer("", final)
            self._is_asked = False


def _parameters(value: Json) -> dict[str, Json]:
    return {as_text(item.get("name")) or "": item.get("value") for item in objects_in(value)}


def _find_user_text(prompt: Json) -> str | None:
    """The last text of the user in the prompt of a model."""
    messages = objects_in(as_object(decode_structure(prompt)).get("messages"))
    for message in reversed(messages):
        content = message.get("content")
        if message.get("role") != "user":
            continue
        if isinstance(content, str):
            match = _TEXT.match(content)
            return match[1] if match else content
        texts = [as_text(block.get("text")) for block in objects_in(content)]
        return "\n".join(text for text in texts if text) or None
    return None
