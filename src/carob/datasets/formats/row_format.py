"""The common part of formats whose cases are rows: in a list, JSON lines, a table or a document.

A format declares under which names its rows state a field, in any case and spacing. The first name
is written. Fields under other names are metadata of the case.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, cast

import msgspec

from carob.datasets.document_types import OpenDocument
from carob.datasets.formats import list_items, list_key
from carob.datasets.formats.reference_data import all_expected_calls
from carob.datasets.formats.row_values import (
    EXPECTED_NAMES,
    as_text,
    find_forbidden,
    find_text,
    forbid,
    is_columns,
    parse_cell,
    read_calls,
    read_criteria,
    read_texts,
    read_turns,
    write_calls,
)
from carob.datasets.lens import RESERVED_KEY, Lens, ReadOnlyLens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import LIST_KEY, Container
from carob.schema import Case, Dataset, Json, Problem, Trace, Turn, content_id
from carob.text.spelling import fold_name


@dataclass(frozen=True, kw_only=True)
class RowNames:
    """Under which names rows state the fields of a case, the usual name first."""

    input: tuple[str, ...]
    expected: tuple[str, ...] = ()
    id: tuple[str, ...] = ("id",)
    context: tuple[str, ...] = ()
    """Background texts: a text, or a list of texts."""
    retrieved: tuple[str, ...] = ()
    """The texts that a recorded run retrieved."""
    recorded: tuple[str, ...] = ()
    """A recorded answer."""
    tool_calls: tuple[str, ...] = ()
    recorded_calls: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    """Texts that an answer must not contain."""
    forbidden_tools: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    call_keys: tuple[str, str] = ("name", "args")
    """The keys of the name and of the arguments in a tool call."""

    def find(self, row: Object, field: str) -> str | None:
        """The key under which a row states a field."""
        return self.find_all(row, (field,))[field]

    def find_all(self, row: Object, names: Collection[str]) -> dict[str, str | None]:
        """The keys under which a row states these fields."""
        by_folded = {fold_name(key): key for key in reversed(row) if row[key] is not None}
        return {
            field: next(
                (
                    # An exact match wins over another spelling of the same name.
                    name if row.get(name) is not None else by_folded[fold_name(name)]
                    for name in cast("tuple[str, ...]", getattr(self, field))
                    if fold_name(name) in by_folded
                ),
                None,
            )
            for field in names
        }

    def all(self) -> list[str]:
        """Every name, in the order of the fields."""
        groups = (getattr(self, field.name) for field in fields(self) if field.name != "call_keys")
        return list(dict.fromkeys(name for group in groups for name in group))


_TEXT_FIELDS = ("context", "retrieved", "contains", "excludes", "tags")


@cache
def declare_shape(
    title: str, names: RowNames, keys: tuple[str, ...] = (), doc: str = ""
) -> type[Any]:
    """The declared type of a row, or of a document that lists rows under one of the keys."""
    row = msgspec.defstruct(
        title,
        [(name, Any, None) for name in names.all()],
        bases=(OpenDocument,),
        namespace={"__doc__": doc or "A row of golden data.", "any_case": True},
    )
    if not keys:
        return row
    return msgspec.defstruct(
        f"{title}Set",
        [(keys[0], list[row])],
        bases=(OpenDocument,),
        namespace={
            "__doc__": "A document that lists rows.",
            "aliases": dict.fromkeys(keys[1:], keys[0]),
        },
    )


class RowFormat:
    """Base of the formats of rows."""

    name: str
    recognized_by: str
    names: RowNames
    shape: type
    containers: tuple[Container, ...] = ("list", "rows", "table")
    writable = True
    derives_ids = True
    items_keys: tuple[str, ...] = ()
    name_key: ClassVar[str | None] = None
    """The key under which a document states the name of the dataset."""
    columns: ClassVar[tuple[str, ...]] = ()
    """The columns that every table of the format has."""
    separators: ClassVar[Mapping[str, str]] = {
        "tags": ";|,",
        "contains": "|;",
        "excludes": "|;",
    }
    """The characters that separate the texts of a field in one text, by precedence."""
    structured: ClassVar[bool] = True
    """Whether an object can be the expected answer, as JSON."""

    def claims_row(self, row: Object) -> bool:
        """Is this first row, or this object of all columns, one of this format?"""
        raise NotImplementedError

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict):
            return False
        key = list_key(sample, self.items_keys)
        items = sample.get(key) if key else None
        row = items[0] if isinstance(items, list) and items else sample
        return isinstance(row, dict) and self.claims_row(row)

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys or ("",))

    def cases(self, container: Container) -> Lens[Case]:
        is_table = container == "table"
        lens: type[Lens[Case]] = Lens[Case] if self.writable else ReadOnlyLens[Case]
        return lens(
            key=f"{self.name}.table" if is_table else self.name,
            model=Case,
            read=self.read_cells if is_table else self.read_case,
            write=self.write_cells if is_table else self.write_case,
            reserved_path=None if is_table else (*self.names.metadata[:1], RESERVED_KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        if container != "document":
            frame: Object = {"columns": list(self.columns)} if container == "table" else {}
            if container == self.containers[0] == "list":
                frame = {LIST_KEY: "list"}  # no other container has to be restored
            return unnamed_header(f"{self.name}.{container}", stem, frame)
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda doc: self.read_header(doc, stem),
            write=self.write_header,
            reserved_path=(RESERVED_KEY,),
            derived="name",
            name_key=self.name_key,
        )

    def read_header(self, doc: Json, stem: str) -> Dataset:
        """Read everything but the cases."""
        name = doc.get(self.name_key) if isinstance(doc, dict) and self.name_key else None
        return Dataset(name=name if isinstance(name, str) and name else stem)

    def write_header(self, dataset: Dataset) -> Json:
        """Write everything but the cases."""
        name: Object = {self.name_key: dataset.name} if self.name_key else {}
        return {**name, self.items_keys[0]: []}

    def check(self, item: Json) -> Iterator[Problem]:
        if not isinstance(item, dict):
            return
        key = self.names.find(item, "input")
        if key is None:
            names = ", ".join(f"`{name}`" for name in self.names.input[:5])
            yield Problem(
                where="$", message="missing user message", hint=f"expected one of: {names}"
            )
        elif is_columns(item[key]):
            message = "a list of messages, expected one"
            hint = "write a row for each question, not a list for each column"
            yield Problem(where=f"$.{key}", message=message, hint=hint)
        elif not any(turn.user and turn.user.strip() for turn in read_turns(item[key])):
            yield Problem(where=f"$.{key}", message="expected a user message, got none")
        key = self.names.find(item, "expected")
        if key is not None and self._read_expected(parse_cell(item[key]), key)[1]:
            what = "several accepted answers" if isinstance(item[key], list) else "an object"
            yield Problem(
                where=f"$.{key}",
                message=f"{what}, kept as reference and not compared",
                hint="state one answer, or score this case with a rubric",
                severity="warning",
            )

    def read_cells(self, doc: Json) -> Case:
        """Read a row of a table, in which lists and objects are texts."""
        cells = doc if isinstance(doc, dict) else {}
        return self.read_case({name: parse_cell(cell) for name, cell in cells.items()})

    def write_cells(self, case: Case) -> Json:
        row = cast("Object", self.write_case(case))
        cells = {name: _encode_cell(value) for name, value in row.items()}
        return {name: cell for name, cell in cells.items() if cell}

    def read_case(self, doc: Json) -> Case:
        """Read a case from a row."""
        row = doc if isinstance(doc, dict) else {}
        keys = self.names.find_all(row, _ROW_FIELDS)
        if keys["recorded"] == keys["expected"]:
            keys["recorded"] = None  # `answer` is recorded only beside another expected answer
        stated = {field: row[key] for field, key in keys.items() if key is not None}
        turns = read_turns(stated.get("input"))
        texts = {
            field: read_texts(stated.get(field), self.separators.get(field, ""))
            for field in _TEXT_FIELDS
        }
        criteria = read_criteria(stated.get("rubrics"))
        response, reference = self._read_expected(stated.get("expected"), keys["expected"])
        calls = read_calls(stated.get("tool_calls"))
        forbidden = read_calls(stated.get("forbidden_tools"))
        reference |= forbid(texts["excludes"] or (), forbidden or ())
        if turns and (response is not None or calls is not None):
            last = msgspec.structs.replace(turns[-1], response=response, tool_calls=calls)
            turns = (*turns[:-1], last)
        case_id = as_text(stated.get("id")) or content_id(*(turn.user or "" for turn in turns))
        recorded = _read_recorded(case_id, turns, stated, texts["retrieved"])
        if recorded is None and texts["context"] is None:
            texts["context"], texts["retrieved"] = texts["retrieved"], texts["context"]
            keys["context"], keys["retrieved"] = keys["retrieved"], keys["context"]
        ignored = {field for field in _TEXT_FIELDS if not texts[field]}
        ignored |= {"retrieved"} if recorded is None else set()
        ignored |= set() if criteria else {"rubrics"}
        ignored |= {"tool_calls"} if calls is None else set()
        ignored |= set() if forbidden else {"forbidden_tools"}
        understood = {key for field, key in keys.items() if key and field not in ignored}
        return Case(
            id=case_id,
            turns=turns,
            context="\n\n".join(texts["context"]) if texts["context"] else None,
            contains=texts["contains"] or None,
            rubrics=criteria,
            reference=reference,
            tags=texts["tags"] or (),
            metadata=_read_metadata(row, understood, keys["metadata"]),
            recorded=recorded,
        )

    def _read_expected(self, value: Json, key: str | None) -> tuple[str | None, dict[str, Json]]:
        """The expected answer. Of several accepted answers none is the expected one, and an object
        of checks is not an answer."""
        if key is not None and isinstance(value, list) and len(value) != 1:
            return None, {key: value}
        if key is not None and isinstance(value, dict) and not self.structured:
            text = next((value[k] for k in EXPECTED_NAMES if isinstance(value.get(k), str)), None)
            return (None, {key: value}) if text is None else (cast("str", text), {})
        return find_text(value, EXPECTED_NAMES), {}

    def write_case(self, case: Case) -> Json:
        """Write a case as a row."""
        last = case.turns[-1] if case.turns else Turn()
        prompt = case.scenario.prompt if case.scenario else ""
        users = [turn.user or "" for turn in case.turns] or [prompt]
        recorded = case.recorded.turns[-1] if case.recorded and case.recorded.turns else Turn()
        # A row is one exchange: expectations of a longer case would be those of another message.
        is_single = len(case.turns) < 2
        excludes, forbidden_tools = find_forbidden(case.reference)
        values: dict[str, Json] = {
            "id": None if is_derived(case.id, content_id(*users)) else case.id,
            "input": self.write_input(users),
            "expected": last.response if is_single else None,
            "context": case.context,
            "retrieved": None if recorded.grounding is None else list[Json](recorded.grounding),
            "recorded": recorded.response,
            "tool_calls": write_calls(all_expected_calls(case), *self.names.call_keys)
            if is_single
            else None,
            "recorded_calls": write_calls(recorded.tool_calls, *self.names.call_keys),
            "contains": None if case.contains is None else list[Json](case.contains),
            "excludes": excludes or None,
            "forbidden_tools": forbidden_tools or None,
            "rubrics": [rubric.text for rubric in case.rubrics] or None,
            "tags": list[Json](case.tags) or None,
        }
        row: Object = {
            getattr(self.names, field)[0]: value
            for field, value in values.items()
            if value is not None and getattr(self.names, field)
        }
        if self.names.metadata:
            metadata: Object = {self.names.metadata[0]: case.metadata} if case.metadata else {}
            return {**row, **metadata}
        # A key that has a meaning in this format would come back as something else.
        known = set(map(fold_name, self.names.all()))
        rest: Object = {k: value for k, value in case.metadata.items() if fold_name(k) not in known}
        return {**row, **rest}

    def write_input(self, users: list[str]) -> Json:
        """The user messages as the value of the input field."""
        return users[0]


_ROW_FIELDS = tuple(field.name for field in fields(RowNames) if field.name != "call_keys")


def has_any(row: Mapping[str, Json], *names: str) -> bool:
    """Whether a row has a field with one of the names, in any case and spacing."""
    keys = set(map(fold_name, row))
    return any(fold_name(name) in keys for name in names)


def _read_metadata(
    row: Object, understood: Collection[str | None], key: str | None
) -> dict[str, Json]:
    nested = row.get(key) if key else None
    rest = {name: value for name, value in row.items() if name not in understood}
    if isinstance(nested, dict):
        rest = {name: value for name, value in rest.items() if name != key} | nested
    return {name: value for name, value in rest.items() if value is not None}


def _read_recorded(
    case_id: str, turns: tuple[Turn, ...], stated: Object, texts: tuple[str, ...] | None
) -> Trace | None:
    """The recorded answer that a row holds beside the case. Retrieved texts alone are not a trace:
    an agent that answered nothing would fail every metric."""
    response = find_text(stated.get("recorded"), EXPECTED_NAMES)
    calls = read_calls(stated.get("recorded_calls"))
    if response is None and calls is None:
        return None
    user = turns[-1].user if turns else None
    turn = Turn(user=user, response=response, tool_calls=calls, grounding=texts)
    return Trace(id=case_id, case=case_id, turns=(turn,))


def is_derived(case_id: str, content: str) -> bool:
    """Whether an id was derived from the content; one that repeats is numbered."""
    return bool(re.fullmatch(rf"{content}(-\d+)?", case_id))


def _encode_cell(value: Json) -> str:
    if value is None:
        return ""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text.replace("\0", "")
