"""AGNTCY's observability SDK: OpenLLMetry's decorators under other attribute names."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.openllmetry import KINDS, OpenLlmetry
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in

_KIND = "ioa_observe.span.kind"
_NAME = "ioa_observe.entity.name"
_INPUT = "ioa_observe.entity.input"
_OUTPUT = "ioa_observe.entity.output"


class Agntcy(OpenLlmetry):
    """Spans of functions that are decorated as agents, tools, tasks and workflows."""

    name: ClassVar[str] = "agntcy"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(attributes=(_KIND,))

    agent_names: ClassVar = (_NAME,)
    inputs: ClassVar = (messages_in(_INPUT, "user"),)
    outputs: ClassVar = (messages_in(_OUTPUT, "assistant"),)
    tool_names: ClassVar = (_NAME,)
    tool_args: ClassVar = (_INPUT,)
    tool_results: ClassVar = (_OUTPUT,)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the kind of the decorated function."""
        kind = span.attributes.get(_KIND)
        return KINDS.get(kind) if isinstance(kind, str) else None

    def agent_name(self, span: Span) -> str | None:
        """Return the name without that of the method, of which an agent may have several."""
        name = super().agent_name(span)
        return name.partition(".")[0] if name else None
