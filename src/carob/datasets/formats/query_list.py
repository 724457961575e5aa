"""The format `test`: lists of queries with expected tool use. Read-only.

A flat list of turns is one case; in a list of named tests, each test is a case. Unknown keys, such
as `mock_tool_output`, become metadata under their path in the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carob.datasets.document_types import OpenDocument, describe_value, parse_document
from carob.datasets.lens import Lens, read_only_lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import (
    AgentMessage,
    Case,
    CaseSession,
    Dataset,
    Json,
    Problem,
    ToolCall,
    Turn,
    content_id,
)
from carob.text.spelling import fold_name


class ExpectedToolUse(OpenDocument):
    """An expected tool call."""

    tool_name: str = ""
    tool_input: Any = None


class AgentResponse(OpenDocument):
    """An expected message of an agent before the final answer."""

    author: str = ""
    text: str = ""


class LoggedQuery(OpenDocument):
    """One turn: the user message and its expectations."""

    query: str | None = None
    expected_tool_use: list[ExpectedToolUse] | None = None
    expected_intermediate_agent_responses: list[AgentResponse] | None = None
    reference: str | None = None


class InitialSession(OpenDocument):
    """The session in which a test starts."""

    app_name: str = ""
    user_id: str = ""
    state: dict[str, Any] | None = None


class Entry(LoggedQuery):
    """A turn, or a named test with its turns under `data`."""

    name: str | None = None
    data: list[LoggedQuery] | None = None
    initial_session: InitialSession | None = None


_MOCKED = {"mocktooloutput"}
_EXPECTATIONS = {"expected_tool_use", "reference", "expectedToolUse"}
_KNOWN = {
    "test": {"name", "data", "initialsession"},
    "turn": set(map(fold_name, LoggedQuery.__struct_fields__)),
    "tool": set(map(fold_name, ExpectedToolUse.__struct_fields__)),
}


class QueryListFormat:
    name = "test"
    recognized_by = (
        "a list of objects with `query` and `expected_tool_use` or `reference`, or with `name` "
        "and `data`"
    )
    containers: tuple[Container, ...] = ("document",)
    writable = False
    derives_ids = True
    items_keys: tuple[str, ...] = ()
    shape: type = list[Entry]

    def claims(self, sample: Json) -> bool:
        rows = [row for row in sample if isinstance(row, dict)] if isinstance(sample, list) else []
        if rows and {"name", "data"} <= rows[0].keys():
            return True
        # Without expectations of a turn, rows with `query` are independent questions.
        expects = any(_EXPECTATIONS & row.keys() for row in rows)
        return bool(rows) and "query" in rows[0] and expects

    def accepts(self, sample: Json) -> bool:
        """Logged queries are one conversation only if the user says so: the same rows may be
        independent questions."""
        rows = sample if isinstance(sample, list) else []
        return bool(rows) and all(isinstance(row, dict) and _is_logged_query(row) for row in rows)

    def items(self, document: Json) -> list[Json]:
        """The named tests, or the flat list itself, which is one case."""
        if not isinstance(document, list):
            raise FormatError(f"expected a list, got {describe_value(document)}", where="$")
        return document if any(map(_is_named, document)) else [document]

    def cases(self, container: Container) -> Lens[Case]:
        return read_only_lens(self.name, Case, _read_case)

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return read_only_lens(self.name, Dataset, lambda _: Dataset(name=stem))

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, list):
            yield from _check_turns(item, "$")
        elif isinstance(item, dict):
            yield from _check_named(item)


def _is_logged_query(row: Object) -> bool:
    return "query" in row and {*map(fold_name, row)} <= _KNOWN["turn"]


def _is_named(entry: Json) -> bool:
    return isinstance(entry, dict) and "data" in entry


def _read_case(doc: Json) -> Case:
    if isinstance(doc, list):
        return _read_flat(doc)
    entry = parse_document(doc, Entry)
    data = doc.get("data") if isinstance(doc, dict) else None
    turns = tuple(map(_read_turn, entry.data or ()))
    metadata = _unknown(doc, "test", "") | _unknown_in_turns(data, "data")
    return Case(
        id=entry.name or _derive_id(turns),
        turns=turns,
        session=_read_session(entry.initial_session),
        metadata=metadata,
    )


def _read_flat(doc: list[Json]) -> Case:
    turns = tuple(map(_read_turn, parse_document(doc, list[LoggedQuery])))
    return Case(id=_derive_id(turns), turns=turns, metadata=_unknown_in_turns(doc, ""))


def _derive_id(turns: tuple[Turn, ...]) -> str:
    return content_id(*(turn.user or "" for turn in turns))


def _read_turn(turn: LoggedQuery) -> Turn:
    uses, responses = turn.expected_tool_use, turn.expected_intermediate_agent_responses or ()
    return Turn(
        user=turn.query,
        response=turn.reference,
        tool_calls=None if uses is None else tuple(map(_read_call, uses)),
        messages=tuple(
            AgentMessage(agent=response.author, text=response.text) for response in responses
        ),
    )


def _read_call(use: ExpectedToolUse) -> ToolCall:
    return ToolCall(name=use.tool_name, args=use.tool_input)


def _read_session(session: InitialSession | None) -> CaseSession | None:
    if session is None or session == InitialSession():
        return None
    return CaseSession(app=session.app_name, user=session.user_id, state=session.state or {})


def _unknown_in_turns(turns: Json, path: str) -> Object:
    unknown: Object = {}
    for index, turn in enumerate(turns if isinstance(turns, list) else []):
        base = f"{path}[{index}]"
        unknown |= _unknown(turn, "turn", f"{base}.")
        uses = turn.get("expected_tool_use") if isinstance(turn, dict) else None
        for number, use in enumerate(uses if isinstance(uses, list) else []):
            unknown |= _unknown(use, "tool", f"{base}.expected_tool_use[{number}].")
    return unknown


def _unknown(item: Json, level: str, prefix: str) -> Object:
    if not isinstance(item, dict):
        return {}
    return {f"{prefix}{key}": item[key] for key in item if fold_name(key) not in _KNOWN[level]}


def _check_named(test: Object) -> Iterator[Problem]:
    if not test.get("name"):
        yield Problem(
            where="$",
            message="missing field 'name'",
            hint="without it, the id is derived from the queries",
            severity="warning",
        )
    turns = test.get("data")
    if not turns:
        yield Problem(where="$", message="no turns in 'data'")
    yield from _check_turns(turns if isinstance(turns, list) else [], "$.data")


def _check_turns(turns: list[Json], path: str) -> Iterator[Problem]:
    for index, turn in enumerate(turns):
        if not isinstance(turn, dict):
            continue
        if turn.get("query") is None:
            yield Problem(where=f"{path}[{index}]", message="missing field 'query'")
        uses = turn.get("expected_tool_use")
        for number, use in enumerate(uses if isinstance(uses, list) else []):
            if isinstance(use, dict) and not use.get("tool_name"):
                yield Problem(
                    where=f"{path}[{index}].expected_tool_use[{number}]",
                    message="missing field 'tool_name'",
                )
            yield from _check_tool_use(use, f"{path}[{index}].expected_tool_use[{number}]")


def _check_tool_use(use: Json, path: str) -> Iterator[Problem]:
    """A misspelt `tool_input` is an error, as in google-adk: the call would lose its arguments."""
    for key in use if isinstance(use, dict) and "tool_input" not in use else ():
        if fold_name(key) not in _KNOWN["tool"] | _MOCKED:
            message = f"unknown field {key!r}"
            hint = "the arguments of a call are in 'tool_input'"
            yield Problem(where=f"{path}.{key}", message=message, hint=hint)
