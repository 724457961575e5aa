"""The scenario catalogue: the list of scenarios that cases refer to by their ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from carob.datasets.source import open_source
from carob.errors import CarobError, FormatError
from carob.schema import Json

_CASE_KEYS = ("case_id", "question", "eval_id", "user_inputs")
"""What a scenario never has, but a case with a scenario does."""


class Catalogue(NamedTuple):
    """The known scenario ids, and where they come from."""

    path: Path
    ids: frozenset[str]


def read_catalogue(path: Path) -> Catalogue:
    """The catalogue in a JSON, JSONL or CSV file."""
    ids = {str(entry["scenario_id"]) for entry in _entries(path) if _is_scenario(entry)}
    if not ids:
        raise FormatError(
            "no scenarios, expected a list of objects with `scenario_id`", where=str(path)
        )
    return Catalogue(path, frozenset(ids))


def find_catalogue(beside: Path) -> Catalogue | None:
    """The catalogue that lies beside a dataset, if there is one."""
    try:
        names = sorted(path for path in beside.parent.glob("*[sS]cenario*") if path != beside)
    except OSError:
        return None
    for path in names:
        try:
            return read_catalogue(path)
        except CarobError:
            continue
    return None


def _entries(path: Path) -> Iterator[dict[str, Json]]:
    source = open_source(path)
    if source.container == "document":
        values = _listed(source.document)
    else:
        values = (row.value for row in source.rows())
    yield from (value for value in values if isinstance(value, dict))


def _listed(document: Json) -> list[Json]:
    """The document itself if it is a list, else the first list in it."""
    if isinstance(document, dict):
        lists = [value for value in document.values() if isinstance(value, list)]
        return lists[0] if lists else [document]
    return document if isinstance(document, list) else []


def _is_scenario(entry: dict[str, Json]) -> bool:
    return "scenario_id" in entry and not any(key in entry for key in _CASE_KEYS)
