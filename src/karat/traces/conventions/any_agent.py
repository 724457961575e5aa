"""any-agent: OTel GenAI operations with its own words for the output and for arguments."""

from __future__ import annotations

from typing import ClassVar

from karat.schema import Json, Span
from karat.traces.conventions.convention import Source, SpanRole
from karat.traces.conventions.decoding import loads
from karat.traces.conventions.genai import GenAi
from karat.traces.conventions.messages import Call, Said

_OUTPUT = "gen_ai.output"


def _answered(span: Span) -> list[Said] | None:
    value = span.attributes.get(_OUTPUT)
    if value is None:
        return None
    decoded = loads(value)
    calls = _calls(decoded)
    if calls:
        return [Said("assistant", calls=calls)]
    return [Said("assistant", value)] if isinstance(value, str) else None


def _calls(value: Json) -> list[Call]:
    return [
        Call(name, loads(call.get("tool.args")), None)
        for call in (value if isinstance(value, list) else ())
        if isinstance(call, dict) and isinstance(name := call.get("tool.name"), str)
    ]


class AnyAgent(GenAi):
    """Mozilla's any-agent."""

    name: ClassVar[str] = "any-agent"

    outputs: ClassVar = (Source(_OUTPUT, _answered), *GenAi.outputs)
    tool_results: ClassVar = (*GenAi.tool_results, _OUTPUT)

    def role(self, span: Span) -> SpanRole | None:
        """By the operation, which has one of its own."""
        if span.attributes.get("gen_ai.operation.name") == "call_llm":
            return "model"
        return super().role(span)
