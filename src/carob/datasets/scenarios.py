"""The scenario catalog: the scenarios that cases refer to by id."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from carob.datasets.source import open_source
from carob.errors import CarobError, FormatError
from carob.schema import Json

_CASE_KEYS = ("case_id", "question", "eval_id", "user_inputs")
"""Keys that a case with a scenario has, but a scenario never has."""


class ScenarioCatalog(NamedTuple):
    """The known scenario ids, and the file they come from."""

    path: Path
    ids: frozenset[str]


def read_catalog(path: Path) -> ScenarioCatalog:
    """Read the catalog in a JSON, JSON Lines or CSV file."""
    ids = {str(entry["scenario_id"]) for entry in _entries(path) if _is_scenario(entry)}
    if not ids:
        raise FormatError(
            "no scenarios found, expected a list of objects with `scenario_id`", where=str(path)
        )
    return ScenarioCatalog(path, frozenset(ids))


def find_catalog(path: Path) -> ScenarioCatalog | None:
    """Find the catalog next to a dataset, if there is one."""
    try:
        files = sorted(file for file in path.parent.glob("*[sS]cenario*") if file != path)
    except OSError:
        return None
    for file in files:
        try:
            return read_catalog(file)
        except CarobError:
            continue
    return None


def _entries(path: Path) -> Iterator[dict[str, Json]]:
    source = open_source(path)
    if source.container == "document":
        values = _list_scenarios(source.document)
    else:
        values = (row.value for row in source.rows())
    yield from (value for value in values if isinstance(value, dict))


def _list_scenarios(document: Json) -> list[Json]:
    """The document itself if it is a list, else the first list in it."""
    if isinstance(document, dict):
        lists = [value for value in document.values() if isinstance(value, list)]
        return lists[0] if lists else [document]
    return document if isinstance(document, list) else []


def _is_scenario(entry: dict[str, Json]) -> bool:
    return "scenario_id" in entry and not any(key in entry for key in _CASE_KEYS)
