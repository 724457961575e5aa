"""What a marker says."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

import msgspec
import pytest

from carob.errors import UsageError
from carob.schema import Dataset
from carob.text.spelling import did_you_mean


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `pytest.mark.golden`."""

    golden: Any
    """A path, or a dataset."""
    metrics: tuple[str, ...] = ()
    traces: tuple[Any, ...] = ()
    """Paths of recordings."""
    target: Any = None
    """What turns a case into an answer."""
    thresholds: dict[str, float] = {}
    params: dict[str, Any] = {}
    profile: str | None = None
    judge: str | None = None
    """The model that judges ask."""
    where: str | None = None
    tags: tuple[str, ...] = ()
    allow_unscored: bool = False


_NAMES = [name for name in Arguments.__struct_fields__ if name != "golden"]


def arguments(mark: pytest.Mark) -> Arguments:
    """The arguments of a marker, checked."""
    if len(mark.args) != 1 or not isinstance(mark.args[0], str | PathLike | Dataset):
        raise UsageError(
            f"found {mark.args!r:.80} as its arguments",
            hint='expected the path of a golden dataset, as in @pytest.mark.golden("support.json")',
        )
    if unknown := next((name for name in mark.kwargs if name not in _NAMES), None):
        hint = did_you_mean(unknown, _NAMES) or f"known: {', '.join(_NAMES)}"
        raise UsageError(f"unknown argument {unknown!r}", hint=hint)
    if mark.kwargs.get("traces") and mark.kwargs.get("target"):
        raise UsageError("found both traces and a target", hint="a case is answered by one of them")
    lists = {name: _several(mark.kwargs.get(name, ())) for name in ("metrics", "traces", "tags")}
    try:
        return msgspec.convert({**mark.kwargs, **lists, "golden": mark.args[0]}, Arguments)
    except msgspec.ValidationError as error:
        raise UsageError(str(error)) from error


def _several(value: str | PathLike[str] | Iterable[object]) -> list[object]:
    """One name may stand for a list of one."""
    return [value] if isinstance(value, str | PathLike) else [*value]
