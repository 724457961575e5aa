"""The steps between expected and actual tool calls."""

from __future__ import annotations

from typing import Literal, NamedTuple

from carob.schema.base import Json
from carob.schema.trace import ToolCall


class ArgumentChange(NamedTuple):
    """An argument that is expected, actual or both. A side that does not have it is `None`, and
    says so in `kind`, because `None` is also a value."""

    name: str
    kind: Literal["same", "different", "missing", "unexpected"]
    expected: Json
    actual: Json


class EditStep(NamedTuple):
    """One step from the expected calls to the actual ones."""

    kind: Literal["keep", "change", "missing", "unexpected"]
    expected: ToolCall | None
    actual: ToolCall | None
    arguments: tuple[ArgumentChange, ...] = ()


class ScriptLine(NamedTuple):
    """A line of an edit script: a step, or one argument of a changed call, both from 0."""

    step: int
    argument: int | None
