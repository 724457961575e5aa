"""The format `questions`: sessions of user inputs with reference data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from carob.datasets.document_types import OpenDocument, find_member, parse_document
from carob.datasets.formats import list_items
from carob.datasets.formats.reference_data import (
    ReferenceData,
    read_reference,
    split_tags,
    without_nulls,
    write_reference,
)
from carob.datasets.lens import RESERVED_KEY, Lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import Case, Dataset, Json, Problem, Turn


class GoldenQuestion(OpenDocument):
    """One test session."""

    id: str
    user_inputs: list[str]
    agents_evaluated: list[str]
    reference_data: ReferenceData
    metadata: dict[str, Any] | None = None
    updated_datetime: str | None = None


class GoldenQuestions(OpenDocument):
    """Golden sessions of user inputs, for one agent."""

    aliases: ClassVar[dict[str, str]] = {"questions": "golden_questions"}

    golden_questions: list[GoldenQuestion]


class _ReadableQuestion(OpenDocument):
    """The fields of a question that are read; `validate` reports those that are missing."""

    id: str
    user_inputs: list[str] = []
    agents_evaluated: list[str] | None = None
    reference_data: ReferenceData | None = None
    metadata: dict[str, Any] | None = None
    updated_datetime: str | None = None


class QuestionsFormat:
    name = "questions"
    recognized_by = "an object with a list `golden_questions` (or `questions`)"
    containers: tuple[Container, ...] = ("document",)
    writable = True
    derives_ids = False
    items_keys = ("golden_questions", "questions")
    shape: type = GoldenQuestions

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict) or "golden_questions" in sample:
            return isinstance(sample, dict)
        items = sample.get("questions")
        first = items[0] if isinstance(items, list) and items else None
        # Many files list plain questions under this key.
        is_plain = isinstance(first, dict) and find_member(first, "user_inputs")[1] is None
        return isinstance(items, list) and not is_plain

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_case,
            reserved_path=("metadata", RESERVED_KEY),
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda _: Dataset(name=stem),
            write=lambda _: {"golden_questions": []},
            reserved_path=(RESERVED_KEY,),
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        for name, hint in _NEEDED.items():
            key, value = find_member(item, name)
            if value in ([], {}):
                message = f"empty {'list' if value == [] else 'object'}"
                yield Problem(where=f"$.{key}", message=message, hint=hint, severity="warning")
        yield from _check_inputs(item)
        yield from _check_tools(item)
        key, updated = find_member(item, "updated_datetime")
        if isinstance(updated, str) and timestamps.to_seconds(updated) is None:
            message = f"expected a date such as 2026-01-31, got {updated!r}"
            yield Problem(where=f"$.{key}", message=message, severity="warning")

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        if not _NAMED.search(path.name):
            yield Problem(
                where="",
                message=f"expected the file name <agent>_golden.json, got {path.name!r}",
                hint="other tools look for evaluation/datasets/<agent>_golden.json",
                severity="note",
            )


_NEEDED = {
    "user_inputs": "add at least one user message",
    "agents_evaluated": "add the agents that should be involved",
    "reference_data": "add expectations, such as `reference_trajectory`",
}
_NAMED = re.compile(r"_golden\.json(\.gz)?$")


def _check_inputs(item: Json) -> Iterator[Problem]:
    key, inputs = find_member(item, "user_inputs")
    for index, text in enumerate(inputs if isinstance(inputs, list) else []):
        if isinstance(text, str) and not text.strip():
            where = f"$.{key}[{index}]"
            yield Problem(where=where, message="empty user message", severity="warning")


def _check_tools(item: Json) -> Iterator[Problem]:
    key, reference = find_member(item, "reference_data")
    calls_key, calls = find_member(reference, "reference_tool_interactions")
    for index, call in enumerate(calls if isinstance(calls, list) else []):
        if find_member(call, "tool_name")[1] == "":
            yield Problem(
                where=f"$.{key}.{calls_key}[{index}].tool_name",
                message="expected the name of a tool, got an empty string",
            )


def _read_case(doc: Json) -> Case:
    shape = parse_document(doc, _ReadableQuestion)
    turns = tuple(Turn(user=text) for text in shape.user_inputs)
    reference = read_reference(shape.reference_data or ReferenceData(), _reference(doc), turns)
    metadata, tags = split_tags(shape.metadata or {})
    # The list is required, so an empty one means that the agents are not specified.
    agents = tuple(shape.agents_evaluated or ()) or None
    return Case(
        id=shape.id,
        turns=reference.turns,
        tool_calls=reference.tool_calls,
        trajectory=reference.trajectory,
        state=reference.state,
        agents=agents,
        contains=reference.contains,
        reference=reference.further,
        tags=tags,
        metadata=metadata,
        updated_at=shape.updated_datetime,
    )


def _reference(doc: Json) -> Object:
    reference = doc.get("reference_data") if isinstance(doc, dict) else None
    return reference if isinstance(reference, dict) else {}


def _write_case(case: Case) -> Json:
    tags: Object = {"tags": list[Json](case.tags)} if case.tags else {}
    return without_nulls(
        id=case.id,
        user_inputs=[turn.user or "" for turn in case.turns],
        agents_evaluated=list(case.agents or ()),
        metadata=(case.metadata | tags) or None,
        reference_data=write_reference(case),
        updated_datetime=case.updated_at,
    )
