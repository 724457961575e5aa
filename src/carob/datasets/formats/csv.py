"""CSV files of inputs and expected outputs, with optional columns for context and tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import ClassVar

from carob.datasets.document_types import (
    OpenDocument,
    normalize_keys,
    parse_document,
    spellings,
)
from carob.datasets.formats.examples import first_exchange, is_foreign_pair, stated_id
from carob.datasets.lens import Lens, unnamed_header
from carob.datasets.source import Container
from carob.schema import Case, Dataset, Json, Problem
from carob.text.spelling import fold_name

_COLUMNS = ("Input", "ExpectedOutput", "Context", "Tags")
_REQUIRED = {"input", "expectedoutput"}
_TAG_SEPARATORS = ";|,"
"""By precedence: in `New York, NY; USA` the comma belongs to a tag."""


class CsvRow(OpenDocument, rename="pascal"):
    """A query and its correct answer; tags are separated by `;`, `|` or `,`."""

    any_case: ClassVar[bool] = True

    input: str = ""
    expected_output: str | None = None
    context: str | None = None
    tags: str | None = None


class CsvFormat:
    name = "csv"
    recognized_by = "CSV with the columns `Input` and `ExpectedOutput`, in any case and spacing"
    containers: tuple[Container, ...] = ("table",)
    writable = True
    derives_ids = True
    items_keys = ()
    shape: type = CsvRow

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict) or is_foreign_pair(sample):
            return False
        return {fold_name(name) for name in sample} >= _REQUIRED

    def items(self, document: Json) -> list[Json]:
        return []

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_case,
            reserved_path=None,
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return unnamed_header(self.name, stem, {"columns": [*_COLUMNS]})

    def check(self, item: Json) -> Iterator[Problem]:
        cells = {_column(key): (key, cell) for key, cell in _cells(item)}
        for name, expected in (("Input", "a user message"), ("ExpectedOutput", "an answer")):
            key, value = cells.get(name, (name, None))
            if not isinstance(value, str) or not value.strip():
                message = f"empty cell, expected {expected}"
                yield Problem(
                    where=f"$.{key}", message=message, hint="fill it in or remove the row"
                )
        key, tags = cells.get("Tags", ("Tags", None))
        used = [char for char in _TAG_SEPARATORS if isinstance(tags, str) and char in tags]
        if len(used) > 1:
            message = f"ambiguous tags {tags!r}, split at {used[0]!r} only"
            hint = "separate all tags by the same character"
            yield Problem(where=f"$.{key}", message=message, hint=hint, severity="warning")

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        """Name the columns that were recognized in another spelling."""
        names = frame.get("columns") if isinstance(frame, dict) else None
        first: dict[str, str] = {}
        for name in names if isinstance(names, list) else []:
            column = _column(str(name))
            if column in first:
                message = f"columns {first[column]!r} and {name!r} are both {column!r}"
                yield Problem(where="$", message=message, hint="rename one of them")
            elif column in _COLUMNS:
                first[column] = str(name)
        read_as = [
            f"{name!r} as {column!r}"
            for column, name in first.items()
            if name not in spellings(column)
        ]
        if read_as:
            message = f"read the column {', '.join(read_as)}"
            yield Problem(where="$", message=message, severity="note")


def _cells(item: Json) -> Iterable[tuple[str, Json]]:
    return item.items() if isinstance(item, dict) else ()


def _column(name: str) -> str:
    """The declared name of a column."""
    folded = fold_name(name)
    return next((column for column in _COLUMNS if fold_name(column) == folded), name)


def _split_tags(text: str) -> list[str]:
    separator = next((char for char in _TAG_SEPARATORS if char in text), _TAG_SEPARATORS[0])
    return [tag.strip() for tag in text.split(separator) if tag.strip()]


def _join_tags(tags: tuple[str, ...]) -> str:
    """The cell of the tags. One that has another separator ends in `;`, which precedes the others:
    `New York, NY` would be read as two tags."""
    text = ";".join(tags)
    return f"{text};" if len(tags) == 1 and any(char in text for char in "|,") else text


def _read_case(doc: Json) -> Case:
    cells = normalize_keys(doc, _COLUMNS) if isinstance(doc, dict) else doc
    row = parse_document(cells, CsvRow)
    return Case.of(
        row.input,
        row.expected_output,
        id=stated_id(doc),
        context=row.context,
        tags=_split_tags(row.tags or ""),
    )


def _write_case(case: Case) -> Json:
    user, response = first_exchange(case)
    cells = {
        "Input": user,
        "ExpectedOutput": response,
        "Context": case.context,
        "Tags": _join_tags(case.tags),
    }
    # Readers reject CSV files with NUL bytes.
    return {name: cell.replace("\0", "") for name, cell in cells.items() if cell}
