"""Check one case of a golden file, before it is read and before it is written."""

from __future__ import annotations

from collections.abc import Iterator

from carob.datasets.document_types import fields_by_name, item_type
from carob.datasets.formats import Format
from carob.datasets.shape_errors import find_shape_errors
from carob.datasets.source import Container
from carob.schema import Json, Problem


def case_type(form: Format, container: Container, key: str | None = None) -> type | None:
    """The declared type of a case; `key` is the one under which a document lists its cases."""
    if not form.items_keys and container != "document":
        return form.shape
    key = key or next(iter(form.items_keys), None)
    return item_type(form.shape, key) if key else None


def find_case_problems(
    form: Format, container: Container, shape: type | None, item: Json
) -> Iterator[Problem]:
    """Yield every problem of a case: differences from its declared type, and the format's own."""
    if shape:
        yield from find_shape_errors(_drop_unknown_cells(container, shape, item), shape)
    yield from form.check(item)


def find_refusal(form: Format, container: Container, item: Json) -> Problem | None:
    """The first error that `carob validate` would report for a written case."""
    problems = find_case_problems(form, container, case_type(form, container), item)
    return next((problem for problem in problems if problem.severity == "error"), None)


def _drop_unknown_cells(container: Container, shape: type, item: Json) -> Json:
    """A row without unknown columns, which are reported once, with the header."""
    if container != "table" or not isinstance(item, dict):
        return item
    declared = fields_by_name(shape)
    return {name: cell for name, cell in item.items() if name in declared}
