"""The arguments of the marker `golden`."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import msgspec
import pytest

from carob.errors import UsageError
from carob.schema import Dataset
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The checked arguments of `pytest.mark.golden`."""

    golden: Any
    """A path or a dataset."""
    metrics: tuple[str, ...] = ()
    traces: tuple[Any, ...] = ()
    """Paths of trace files."""
    target: Any = None
    """A function from a case to an answer."""
    thresholds: dict[str, float] = {}
    params: dict[str, Any] = {}
    profile: str | None = None
    judge: str | None = None
    """The model of judges."""
    where: str | None = None
    tags: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    limit: int | None = None
    allow_unscored: bool = False


_NAMES = [name for name in Arguments.__struct_fields__ if name != "golden"]


def parse_marker(mark: pytest.Mark) -> Arguments:
    """Return the arguments of a marker. Raises `UsageError` for unknown or invalid ones."""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str | PathLike | Dataset):
        raise UsageError(
            f"invalid arguments {mark.args!r:.80}",
            hint='expected the path of a golden dataset, as in @pytest.mark.golden("support.json")',
        )
    if unknown := next((name for name in mark.kwargs if name not in _NAMES), None):
        hint = did_you_mean(unknown, _NAMES) or f"expected one of: {', '.join(_NAMES)}"
        raise UsageError(f"unknown argument {unknown!r}", hint=hint)
    if mark.kwargs.get("traces") and mark.kwargs.get("target"):
        raise UsageError("both traces and a target", hint="pass only one of them")
    names = ("metrics", "traces", "tags", "cases")
    lists = {name: _as_list(mark.kwargs.get(name, ())) for name in names}
    try:
        return msgspec.convert(
            {**mark.kwargs, **lists, "golden": mark.args[0]}, prepare_type(Arguments)
        )
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error


def _as_list(value: str | PathLike[str] | Iterable[object]) -> list[object]:
    """Return a list; a single name may stand for a list of one."""
    return [value] if isinstance(value, str | PathLike) else [*value]
