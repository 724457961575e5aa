"""AutoGen core: OTel GenAI operations without any content."""

from __future__ import annotations

from typing import ClassVar

from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks


class Autogen(GenAi):
    """AutoGen, which records that agents and tools ran, but no messages."""

    name: ClassVar[str] = "autogen"
    marks: ClassVar = SpanMarks(systems=("autogen",))
