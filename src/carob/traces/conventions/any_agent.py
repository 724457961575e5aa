"""any-agent: OTel GenAI operations with its own words for the output and for arguments."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.convention import Source, SpanRole, first_text, verbatim
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.decoding import loads
from carob.traces.messages import shapes
from carob.traces.messages.blocks import arguments
from carob.traces.messages.said import Call, Said

OUTPUTS = ("gen_ai.output", "genai.output")


def _answered(span: Span) -> list[Said] | None:
    value = first_text(span.attributes, OUTPUTS)
    if value is None:
        return None
    decoded = loads(value)
    if isinstance(decoded, dict) and (said := shapes.read(decoded, "assistant")):
        return said
    calls = _calls(decoded)
    return [Said("assistant", calls=calls) if calls else Said("assistant", value)]


def _calls(value: Json) -> list[Call]:
    return [
        Call(name, arguments(call), None)
        for call in (value if isinstance(value, list) else ())
        if isinstance(call, dict)
        and isinstance(name := call.get("tool.name", call.get("name")), str)
    ]


class AnyAgent(GenAi):
    """Mozilla's any-agent."""

    name: ClassVar[str] = "any-agent"

    outputs: ClassVar = (
        verbatim("any_agent.final_output", "assistant"),
        Source(OUTPUTS[0], _answered, None, OUTPUTS),
        *GenAi.outputs,
    )
    tool_results: ClassVar = (*GenAi.tool_results, *OUTPUTS)

    def role(self, span: Span) -> SpanRole | None:
        """By the operation, which has one of its own."""
        if span.attributes.get("gen_ai.operation.name") == "call_llm":
            return "model"
        return super().role(span)
