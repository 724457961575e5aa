"""Evaluators: code of users that scores a pair, and how it is run."""

from __future__ import annotations

from typing import Literal, TypeAlias

from carob.schema.base import Json, Struct
from carob.schema.trust import SensitiveSetting

EvaluatorKind: TypeAlias = Literal["python", "lines", "agentevals", "promptfoo", "adk", "openai"]
"""A metric in Python, a command that speaks JSON lines, or the evaluator of another tool."""


class EvaluatorSettings(Struct, frozen=True, kw_only=True):
    """Code that scores a pair. It comes from the command line or from a trusted config, and never
    from a request to the server."""

    kind: EvaluatorKind
    file: str = ""
    """The file with the code; empty for a command and for a module."""
    function: str | None = None
    """The function in the file, or a dotted path; `None` if the file has only one."""
    command: tuple[str, ...] = ()
    config: dict[str, Json] = {}
    """Settings that the evaluator receives with every pair."""
    threshold: float | None = None
    """The threshold that is passed to the evaluator, as agentevals does."""
    timeout: float = 30.0
    """Seconds for one pair, after which the process and its children are killed."""
    env: tuple[str, ...] = ()
    """The environment variables that the process receives besides a few such as `PATH`."""
    batch: bool | None = None
    """Whether one process scores many pairs; `None` if it can."""
    withheld: tuple[SensitiveSetting, ...] = ()
    """Settings of a file that the user has not trusted. Nothing is executed then."""
