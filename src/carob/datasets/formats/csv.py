"""CSV files of inputs and expected outputs, with optional columns for context and tags."""

from __future__ import annotations

from collections.abc import Iterator

from carob.datasets.document_types import OpenDocument, find_member, parse_document
from carob.datasets.formats.examples import first_exchange
from carob.datasets.lens import Lens
from carob.datasets.source import Container
from carob.schema import Case, Dataset, Json, Problem

_DIALECTS = ({"Input", "ExpectedOutput"}, {"input", "expected_output"})


class CsvRow(OpenDocument, rename="pascal"):
    """A query and its correct answer; tags are separated by `;`."""

    input: str = ""
    expected_output: str | None = None
    context: str | None = None
    tags: str | None = None


class CsvFormat:
    name = "csv"
    recognized_by = (
        "CSV with the columns `Input` and `ExpectedOutput` (or `input`, `expected_output`)"
    )
    containers: tuple[Container, ...] = ("table",)
    writable = True
    derives_ids = True
    items_keys = ()
    shape: type = CsvRow

    def claims(self, sample: Json) -> bool:
        return isinstance(sample, dict) and any(names <= sample.keys() for names in _DIALECTS)

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
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda _: Dataset(name=stem),
            write=lambda _: {"columns": ["Input", "ExpectedOutput", "Context", "Tags"]},
            reserved_path=None,
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        for name, expected in (("Input", "a user message"), ("ExpectedOutput", "an answer")):
            key, value = find_member(item, name)
            if not isinstance(value, str) or not value.strip():
                message = f"empty cell, expected {expected}"
                yield Problem(
                    where=f"$.{key}", message=message, hint="fill it in or remove the row"
                )


def _read_case(doc: Json) -> Case:
    row = parse_document(doc, CsvRow)
    tags = [tag.strip() for tag in (row.tags or "").split(";")]
    return Case.of(
        row.input, row.expected_output, context=row.context, tags=[tag for tag in tags if tag]
    )


def _write_case(case: Case) -> Json:
    user, response = first_exchange(case)
    cells = {
        "Input": user,
        "ExpectedOutput": response,
        "Context": case.context,
        "Tags": ";".join(case.tags),
    }
    # Readers reject CSV files with NUL bytes.
    return {name: cell.replace("\0", "") for name, cell in cells.items() if cell}
