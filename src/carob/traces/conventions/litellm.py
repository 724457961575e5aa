"""litellm's own OTel callback: OTel GenAI, with the provider's usage printed as a Python literal.

Its `raw_gen_ai_request` spans repeat the request of the span around them, so they have no role.
"""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.messages.usage import complete_usage, usage_of
from carob.traces.shape import parse_literal, text_or_none

_USAGE = "metadata.usage_object"
_RAW = "raw_gen_ai_request"


class LiteLlm(GenAi):
    """litellm's requests."""

    name: ClassVar[str] = "litellm"
    marks: ClassVar = SpanMarks(attributes=("litellm.call_id",), scopes=("litellm",))

    usage_keys: ClassVar = (_USAGE,)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation; with content capture off, requests have none."""
        if span.name == _RAW:
            return None
        if "gen_ai.operation.name" in span.attributes:
            return super().role(span)
        return "model" if "llm.request.type" in span.attributes else None

    def usage(self, span: Span) -> Usage:
        """Return the counts of the attributes, completed from the printed ones."""
        counted = super().usage(span)
        printed = parse_literal(text_or_none(span.attributes.get(_USAGE)) or "")
        return complete_usage(counted, usage_of(printed) or Usage())
