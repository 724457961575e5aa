"""any-agent: OTel GenAI operations with its own attributes for outputs and arguments."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole, first_text
from carob.traces.mapping.sources import MessageSource, text_in
from carob.traces.messages.message import CallBlock, Message
from carob.traces.messages.read import read_messages
from carob.traces.messages.tool_blocks import call_arguments
from carob.traces.shape import decode_json

_OUTPUTS = ("gen_ai.output", "genai.output")


def _read_output(span: Span) -> list[Message] | None:
    value = first_text(span.attributes, _OUTPUTS)
    if value is None:
        return None
    decoded = decode_json(value)
    if isinstance(decoded, dict) and (messages := read_messages(decoded, "assistant")):
        return messages
    calls = _read_calls(decoded)
    return [Message("assistant", calls=calls) if calls else Message("assistant", value)]


def _read_calls(value: Json) -> list[CallBlock]:
    return [
        CallBlock(name, call_arguments(call), None)
        for call in (value if isinstance(value, list) else ())
        if isinstance(call, dict)
        and isinstance(name := call.get("tool.name", call.get("name")), str)
    ]


class AnyAgent(GenAi):
    """Mozilla's any-agent."""

    name: ClassVar[str] = "any-agent"
    marks: ClassVar = SpanMarks(
        scopes=("any_agent",), operation_attributes=("any_agent.final_output", *_OUTPUTS)
    )

    outputs: ClassVar = (
        text_in("any_agent.final_output", "assistant"),
        MessageSource(_OUTPUTS[0], _read_output, None, _OUTPUTS),
        *GenAi.outputs,
    )
    tool_results: ClassVar = (*GenAi.tool_results, *_OUTPUTS)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation; `call_llm` is any-agent's own."""
        if span.attributes.get("gen_ai.operation.name") == "call_llm":
            return "model"
        return super().role(span)
