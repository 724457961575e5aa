"""Tests of promptfoo in a table: columns such as `__expected`, and a column per variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from carob.datasets.formats.promptfoo_assertions import parse_expected, write_expected
from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.formats.row_values import as_text
from carob.datasets.patch import Object
from carob.schema import Json

EXPECTED, _DESCRIPTION, _METADATA = "__expected", "__description", "__metadata:"
COLUMNS = (EXPECTED, _DESCRIPTION, _METADATA, "__prefix", "__suffix", "__metric", "__threshold",
    "__config:", "__providerOutput")  # fmt: skip


def parse_cells(doc: Json) -> Object:
    """A row of a table as a test."""
    cells = {key.strip(): cell for key, cell in doc.items()} if isinstance(doc, dict) else {}
    expected = [(key, cell) for key, cell in cells.items() if key.startswith(EXPECTED)]
    assertions: list[Json] = [
        {**parse_expected(cell), **_config_of(key, cells)}
        for key, cell in expected
        if isinstance(cell, str)
    ]
    metadata: Object = {
        key.removeprefix(_METADATA): cell
        for key, cell in cells.items()
        if key.startswith(_METADATA)
    }
    return without_nulls(
        description=cells.get(_DESCRIPTION),
        vars={key: cell for key, cell in cells.items() if not key.startswith(COLUMNS)},
        **{"assert": assertions},
        metadata=metadata or None,
        threshold=_number(cells.get("__threshold")),
    )


def _config_of(column: str, cells: Mapping[str, Json]) -> Object:
    """The threshold that another column states for an assertion."""
    return without_nulls(threshold=_number(cells.get(f"__config:{column}:threshold")))


def _number(cell: Json) -> float | None:
    try:
        return float(cell) if isinstance(cell, str) and cell.strip() else None
    except ValueError:
        return None


def write_cells(test: Object) -> Json:
    variables = {
        name: as_text(value) for name, value in cast("Object", test.get("vars", {})).items()
    }
    assertions = test.get("assert")
    values = assertions if isinstance(assertions, list) else []
    cells = [write_expected(value) for value in values if isinstance(value, dict)]
    texts = list(filter(None, cells))
    metadata = test.get("metadata")
    pairs: Mapping[str, Json] = metadata if isinstance(metadata, dict) else {}
    row: dict[str, str | None] = {
        **variables,
        _DESCRIPTION: as_text(test.get("description")),
        **{f"{_METADATA}{key}": as_text(value) for key, value in pairs.items()},
        **{f"{EXPECTED}{n if n > 1 else ''}": text for n, text in enumerate(texts, 1)},
    }
    return {name: cell.replace("\0", "") for name, cell in row.items() if cell}
