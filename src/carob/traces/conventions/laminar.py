"""Laminar, which browser-use records with: a type, an input and an output on every span."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in

_KIND = "lmnr.span.type"
_INPUT, _OUTPUT = "lmnr.span.input", "lmnr.span.output"
_ROLES: dict[Json, SpanRole] = {"LLM": "model", "TOOL": "tool", "EVALUATOR": "skip"}


class Laminar(GenAi):
    """Laminar's own spans; those of its instrumentations hold OTel GenAI as well."""

    name: ClassVar[str] = "laminar"
    marks: ClassVar = SpanMarks(attributes=(_KIND,))

    conversations: ClassVar = ("lmnr.association.properties.session_id", *GenAi.conversations)
    inputs: ClassVar = (*GenAi.inputs, messages_in(_INPUT, "user"))
    outputs: ClassVar = (*GenAi.outputs, messages_in(_OUTPUT, "assistant"))
    tool_args: ClassVar = (*GenAi.tool_args, _INPUT)
    tool_results: ClassVar = (*GenAi.tool_results, _OUTPUT)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type; the outermost span is the run, and all others are steps."""
        kind = span.attributes.get(_KIND)
        if "gen_ai.operation.name" in span.attributes and (role := super().role(span)):
            return role
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        return role or ("workflow" if span.parent_id is None else "chain")

    def tool_name(self, span: Span) -> str | None:
        """Return the attribute, else the name of the span."""
        return super().tool_name(span) or span.name or None
