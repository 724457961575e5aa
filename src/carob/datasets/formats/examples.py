"""Pairs of input and expected output: in a document with `name` and `examples`, or as rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from carob.datasets.document_types import OpenDocument, find_member, parse_document
from carob.datasets.formats import list_items
from carob.datasets.formats.deepeval import has_more_than_pair, is_golden
from carob.datasets.formats.langfuse import LangfuseFormat
from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.formats.row_format import has_any
from carob.datasets.formats.row_values import EXPECTED_NAMES
from carob.datasets.lens import RESERVED_KEY, Lens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import Case, Dataset, Json, Problem
from carob.text.spelling import fold_name

DEFAULT_VERSION = "1.0.0"
"""The version of a dataset that does not state one."""


_PAIR = {"input", "expectedoutput"}
_OTHER_ANSWERS = tuple(name for name in EXPECTED_NAMES if fold_name(name) not in _PAIR)


def is_foreign_pair(row: Object) -> bool:
    """Whether a row with an input and an expected output belongs to another tool's format."""
    return is_golden(row) or has_more_than_pair(row) or LangfuseFormat().claims_row(row)


def _is_example(item: Json) -> bool:
    """Whether an item looks like an example, also one with a mistake: other tools and plain rows
    are listed under the same key."""
    if not isinstance(item, dict):
        return True
    pair = _PAIR & set(map(fold_name, item))
    return pair == _PAIR or (bool(pair) and not has_any(item, *_OTHER_ANSWERS))


class _CamelDocument(OpenDocument):
    """C# serializers write these documents, in PascalCase unless they are told otherwise."""

    pascal_case: ClassVar[bool] = True


class Example(_CamelDocument, rename="camel"):
    """A query and its correct answer."""

    input: str
    expected_output: str
    context: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class ExampleSet(_CamelDocument, rename="camel"):
    """A golden dataset of inputs paired with expected outputs."""

    name: str
    examples: list[Example]
    version: str | None = None
    description: str | None = None
    created_at: str | None = None
    tags: list[str] | None = None


class _ReadableExample(_CamelDocument, rename="camel"):
    """The fields of an example that are read; `validate` reports those that are missing."""

    input: str = ""
    expected_output: str | None = None
    context: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class _Header(_CamelDocument, rename="camel"):
    name: str
    examples: list[Any]
    version: str | None = None
    description: str | None = None
    created_at: str | None = None
    tags: list[str] | None = None


class ExamplesFormat:
    name = "examples"
    recognized_by = "an object with a list `examples`, or rows with `input` and `expectedOutput`"
    containers: tuple[Container, ...] = ("document", "list", "rows")
    writable = True
    derives_ids = True
    items_keys = ("examples", "Examples")
    shape: type = ExampleSet

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict):
            return False
        for key in self.items_keys:
            items = sample.get(key)
            if isinstance(items, list):
                first = items[0] if items else None
                return "name" in sample or _is_example(first)
        return set(map(fold_name, sample)) >= _PAIR and not is_foreign_pair(sample)

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_case,
            reserved_path=("metadata", RESERVED_KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        if container != "document":
            return unnamed_header(f"{self.name}.{container}", stem)
        return Lens(
            key=self.name,
            model=Dataset,
            read=_read_header,
            write=_write_header,
            reserved_path=(RESERVED_KEY,),
            without_defaults=_without_default_version,
        )

    def check(self, item: Json) -> Iterator[Problem]:
        for name in ("input", "expectedOutput"):
            key, value = find_member(item, name)
            if isinstance(value, str) and not value.strip():
                expected = "a user message" if name == "input" else "an answer"
                message = f"expected {expected}, got an empty string"
                yield Problem(
                    where=f"$.{key}", message=message, hint="fill it in or remove the case"
                )

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        key, version = find_member(frame, "version")
        if isinstance(version, str) and not _SEMVER.fullmatch(version):
            yield Problem(
                where=f"$.{key}",
                message=f"expected a semantic version such as 1.0.0, got {version!r}",
                severity="warning",
            )
        key, created = find_member(frame, "createdAt")
        if isinstance(created, str) and timestamps.to_seconds(created) is None:
            yield Problem(
                where=f"$.{key}",
                message=f"expected an ISO 8601 timestamp, got {created!r}",
                hint="such as 2026-01-31T10:30:00Z",
            )
        key, name = find_member(frame, "name")
        if name == "":
            yield Problem(where=f"$.{key}", message="expected a name, got an empty string")


_SEMVER = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-.]+)?"
)


def _read_header(doc: Json) -> Dataset:
    head = parse_document(doc, _Header)
    return Dataset(
        name=head.name,
        version=DEFAULT_VERSION if head.version is None else head.version,
        description=head.description,
        created_at=head.created_at,
        tags=tuple(head.tags or ()),
    )


def _without_default_version(dataset: Dataset, doc: Json) -> Dataset:
    """The dataset without a version that its document does not state."""
    if find_member(doc, "version")[1] is None and dataset.version == DEFAULT_VERSION:
        return msgspec.structs.replace(dataset, version=None)
    return dataset


def _write_header(dataset: Dataset) -> Json:
    return without_nulls(
        name=dataset.name,
        version=dataset.version,
        description=dataset.description,
        createdAt=dataset.created_at,
        tags=list(dataset.tags) or None,
        examples=[],
    )


def _read_case(doc: Json) -> Case:
    shape = parse_document(doc, _ReadableExample)
    return Case.of(
        shape.input,
        shape.expected_output,
        id=stated_id(doc),
        context=shape.context,
        tags=shape.tags or (),
        metadata=shape.metadata,
    )


def stated_id(doc: Json) -> str | None:
    """The id of an example that has one, although the format does not know ids. It is never
    written, so that it stays what the document states beyond the case."""
    members = doc.items() if isinstance(doc, dict) else ()
    value = next((value for key, value in members if fold_name(key) == "id"), None)
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value).strip() or None if isinstance(value, str) or is_number else None


def _write_case(case: Case) -> Json:
    user, response = first_exchange(case)
    return without_nulls(
        input=user,
        expectedOutput=response,
        context=case.context,
        tags=list(case.tags) or None,
        metadata=case.metadata or None,
    )


def first_exchange(case: Case) -> tuple[str, str | None]:
    """The first message and the answer expected to it, for formats with one exchange per case.

    A case that expects no answer must not become one that expects an empty answer.
    """
    if not case.turns:
        return (case.scenario.prompt if case.scenario else "", None)
    return case.turns[0].user or "", case.turns[0].response
