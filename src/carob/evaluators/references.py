"""Evaluators that a user names: `FILE.py:NAME`, `promptfoo:FILE:NAME`, `lines:COMMAND`, …

A name on the command line or in Python is explicit, and needs no further trust. Names that come
from elsewhere, such as a request to the server, never pass here.
"""

from __future__ import annotations

import shlex
from typing import cast, get_args

from carob.config.dialects.evaluators import find_module
from carob.errors import UsageError
from carob.schema import EvaluatorKind, EvaluatorSettings

_KINDS = frozenset(get_args(EvaluatorKind)) - {"python"}


def parse_evaluator(reference: str) -> EvaluatorSettings | None:
    """Return the evaluator that a name refers to; `None` if it is the name of a metric."""
    kind, colon, rest = reference.partition(":")
    if colon and kind in _KINDS:
        return _parse(cast("EvaluatorKind", kind), rest, reference)
    file, name = _split(reference)
    if file.endswith(".py"):
        return EvaluatorSettings(kind="python", file=file, function=name)
    return None


def _parse(kind: EvaluatorKind, rest: str, reference: str) -> EvaluatorSettings:
    if not rest:
        raise UsageError("expected a file or a command", where=reference)
    if kind == "lines":
        return EvaluatorSettings(kind=kind, command=split_command(rest, reference))
    file, name = _split(rest)
    if kind == "adk" and not file.endswith(".py"):
        return adk_function(rest)
    return EvaluatorSettings(kind=kind, file=file, function=name)


def split_command(text: str, where: str) -> tuple[str, ...]:
    """Return the words of a command. Raises `UsageError` for an open quote."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(f"invalid command: {error}", where=where) from error


def adk_function(dotted: str) -> EvaluatorSettings:
    """Return a custom metric function of ADK by its dotted path, with the file that defines it if
    it is in the working directory."""
    module = dotted.rpartition(".")[0]
    if not module:
        hint = "such as my_agent.metrics.tone"
        raise UsageError("expected a dotted path", where=dotted, hint=hint)
    return EvaluatorSettings(kind="adk", file=find_module(dotted), function=dotted)


def _split(text: str) -> tuple[str, str | None]:
    """Split a name from a file. A drive letter is part of the file."""
    file, colon, name = text.rpartition(":")
    return (file, name) if colon and name.isidentifier() and len(file) > 1 else (text, None)
