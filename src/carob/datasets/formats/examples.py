"""name/version/examples JSON: pairs of input and expected output, versioned and tagged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from carob.datasets.document_types import Open, fit, member
from carob.datasets.formats import listed
from carob.datasets.formats.reference_data import stated
from carob.datasets.lens import KEY, Lens
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import Case, Dataset, Json, Problem


class Example(Open, rename="camel"):
    """A query and its correct answer."""

    input: str
    expected_output: str
    context: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class ExampleSet(Open, rename="camel"):
    """A golden dataset of inputs paired with expected outputs."""

    name: str
    examples: list[Example]
    version: str | None = None
    description: str | None = None
    created_at: str | None = None
    tags: list[str] | None = None


class _Item(Open, rename="camel"):
    """What of an example is read; what it should have is for `validate` to say."""

    input: str = ""
    expected_output: str | None = None
    context: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None


class _Header(Open, rename="camel"):
    name: str
    examples: list[Any]
    version: str | None = None
    description: str | None = None
    created_at: str | None = None
    tags: list[str] | None = None


class Examples:
    name = "examples"
    sought = "an object with a list `examples`"
    containers: tuple[Container, ...] = ("document",)
    writable = True
    derives_ids = True
    items_keys = ("examples",)
    shape: type = ExampleSet

    def claims(self, sample: Json) -> bool:
        return isinstance(sample, dict) and isinstance(sample.get("examples"), list)

    def items(self, document: Json) -> list[Json]:
        return listed(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            noun=Case,
            read=_read_case,
            write=_write_case,
            open_at=("metadata", KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return Lens(
            key=self.name, noun=Dataset, read=_read_header, write=_write_header, open_at=(KEY,)
        )

    def check(self, item: Json) -> Iterator[Problem]:
        for name in ("input", "expectedOutput"):
            key, value = member(item, name)
            if isinstance(value, str) and not value.strip():
                message = "found an empty text, expected what the user says"
                if name != "input":
                    message = "found an empty text, expected the correct answer"
                yield Problem(
                    where=f"$.{key}", message=message, hint="fill it in or remove the case"
                )

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        key, version = member(frame, "version")
        if isinstance(version, str) and not _SEMVER.fullmatch(version):
            yield Problem(
                where=f"$.{key}",
                message=f"found {version!r}, expected a semantic version such as 1.0.0",
                severity="warning",
            )
        key, created = member(frame, "createdAt")
        if isinstance(created, str) and timestamps.to_seconds(created) is None:
            yield Problem(
                where=f"$.{key}",
                message=f"found {created!r}, expected ISO 8601",
                hint="such as 2026-01-31T10:30:00Z",
            )
        key, name = member(frame, "name")
        if name == "":
            yield Problem(where=f"$.{key}", message="found an empty text, expected a name")


_SEMVER = re.compile(
    r"(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-.]+)?"
)


def _read_header(doc: Json) -> Dataset:
    head = fit(doc, _Header)
    return Dataset(
        name=head.name,
        version=head.version,
        description=head.description,
        created_at=head.created_at,
        tags=tuple(head.tags or ()),
    )


def _write_header(dataset: Dataset) -> Json:
    return stated(
        name=dataset.name,
        version=dataset.version,
        description=dataset.description,
        createdAt=dataset.created_at,
        tags=list(dataset.tags) or None,
        examples=[],
    )


def _read_case(doc: Json) -> Case:
    shape = fit(doc, _Item)
    return Case.of(
        shape.input,
        shape.expected_output,
        context=shape.context,
        tags=shape.tags or (),
        metadata=shape.metadata,
    )


def _write_case(case: Case) -> Json:
    user, response = first_exchange(case)
    return stated(
        input=user,
        expectedOutput=response,
        context=case.context,
        tags=list(case.tags) or None,
        metadata=case.metadata or None,
    )


def first_exchange(case: Case) -> tuple[str, str]:
    """The first message and what is expected of it, for formats that hold one exchange only."""
    if not case.turns:
        return (case.scenario.prompt if case.scenario else "", "")
    return case.turns[0].user or "", case.turns[0].response or ""
