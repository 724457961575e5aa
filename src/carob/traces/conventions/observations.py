"""Spans of stores with a vocabulary of their own, whose containers name the role of each span."""

from __future__ import annotations

from typing import ClassVar, get_args

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_object, decode_json

_ROLES: dict[Json, SpanRole] = {role: role for role in get_args(SpanRole)}


class Observations(Convention):
    """Spans with an `observation.role`; `containers.observation` writes them."""

    name: ClassVar[str] = "observations"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(attributes=("observation.role",))

    agent_names: ClassVar = ("observation.agent",)
    models: ClassVar = ("observation.model",)
    conversations: ClassVar = ("observation.conversation",)
    graph_paths: ClassVar = ("observation.graph_path",)
    inputs: ClassVar = (messages_in("observation.input", "user"),)
    outputs: ClassVar = (messages_in("observation.output", "assistant"),)
    tool_args: ClassVar = ("observation.input",)
    tool_results: ClassVar = ("observation.output",)
    usage_keys: ClassVar = ("observation.usage",)

    def role(self, span: Span) -> SpanRole | None:
        """Return the role that the container found."""
        return _ROLES.get(span.attributes.get("observation.role"))

    def tool_name(self, span: Span) -> str | None:
        """Return the name of the span."""
        return span.name or None

    def usage(self, span: Span) -> Usage:
        """Return the counts, under the names of any provider."""
        return usage_of(as_object(decode_json(span.attributes.get("observation.usage")))) or Usage()
