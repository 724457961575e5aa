"""Lists of queries with expected tool use, for reading only.

A flat list of turns is one case; in a list of named tests, each is a case. Keys that have no
meaning here, such as `mock_tool_output`, are metadata under their path in the case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from carob.datasets.document_types import Open, fit, kind
from carob.datasets.lens import Lens, one_way
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import (
    Case,
    Dataset,
    Json,
    Message,
    Problem,
    Session,
    ToolCall,
    Turn,
    content_id,
)
from carob.text.spelling import fold


class ExpectedToolUse(Open):
    """A tool that should be called."""

    tool_name: str = ""
    tool_input: Any = None


class AgentResponse(Open):
    """What an agent should say on the way."""

    author: str = ""
    text: str = ""


class Query(Open):
    """One turn: what the user asks, and what should follow."""

    query: str | None = None
    expected_tool_use: list[ExpectedToolUse] | None = None
    expected_intermediate_agent_responses: list[AgentResponse] | None = None
    reference: str | None = None


class InitialSession(Open):
    """The session in which a test starts."""

    app_name: str = ""
    user_id: str = ""
    state: dict[str, Any] | None = None


class Entry(Query):
    """A turn, or a named test with its turns under `data`."""

    name: str | None = None
    data: list[Query] | None = None
    initial_session: InitialSession | None = None


_KNOWN = {
    "test": {"name", "data", "initialsession"},
    "turn": set(map(fold, Query.__struct_fields__)),
    "tool": set(map(fold, ExpectedToolUse.__struct_fields__)),
}


class QueryLists:
    name = "test"
    sought = "a list of objects with `query`, or with `name` and `data`"
    containers: tuple[Container, ...] = ("document",)
    writable = False
    derives_ids = True
    items_keys: tuple[str, ...] = ()
    shape: type = list[Entry]

    def claims(self, sample: Json) -> bool:
        first = sample[0] if isinstance(sample, list) and sample else None
        return isinstance(first, dict) and ("query" in first or {"name", "data"} <= first.keys())

    def items(self, document: Json) -> list[Json]:
        """The named tests, or the flat list itself, which is one case."""
        if not isinstance(document, list):
            raise FormatError(f"found {kind(document)}, expected a list", where="$")
        return document if any(map(_is_named, document)) else [document]

    def cases(self, container: Container) -> Lens[Case]:
        return one_way(self.name, Case, _read_case)

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return one_way(self.name, Dataset, lambda _: Dataset(name=stem))

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, list):
            yield from _check_turns(item, "$")
        elif isinstance(item, dict):
            yield from _check_named(item)


def _is_named(entry: Json) -> bool:
    return isinstance(entry, dict) and "data" in entry


def _read_case(doc: Json) -> Case:
    if isinstance(doc, list):
        return _read_flat(doc)
    entry = fit(doc, Entry)
    found = doc.get("data") if isinstance(doc, dict) else None
    turns = tuple(map(_read_turn, entry.data or ()))
    metadata = _unknown(doc, "test", "") | _unknown_in_turns(found, "data")
    return Case(
        id=entry.name or _derived_id(turns),
        turns=turns,
        session=_read_session(entry.initial_session),
        metadata=metadata,
    )


def _read_flat(doc: list[Json]) -> Case:
    turns = tuple(map(_read_turn, fit(doc, list[Query])))
    return Case(id=_derived_id(turns), turns=turns, metadata=_unknown_in_turns(doc, ""))


def _derived_id(turns: tuple[Turn, ...]) -> str:
    return content_id(*(turn.user or "" for turn in turns))


def _read_turn(turn: Query) -> Turn:
    uses, said = turn.expected_tool_use, turn.expected_intermediate_agent_responses or ()
    return Turn(
        user=turn.query,
        response=turn.reference,
        tool_calls=None if uses is None else tuple(map(_read_call, uses)),
        messages=tuple(Message(agent=one.author, text=one.text) for one in said),
    )


def _read_call(use: ExpectedToolUse) -> ToolCall:
    return ToolCall(name=use.tool_name, args=use.tool_input)


def _read_session(session: InitialSession | None) -> Session | None:
    if session is None or session == InitialSession():
        return None
    return Session(app=session.app_name, user=session.user_id, state=session.state or {})


def _unknown_in_turns(turns: Json, path: str) -> Object:
    found: Object = {}
    for index, turn in enumerate(turns if isinstance(turns, list) else []):
        place = f"{path}[{index}]"
        found |= _unknown(turn, "turn", f"{place}.")
        uses = turn.get("expected_tool_use") if isinstance(turn, dict) else None
        for number, use in enumerate(uses if isinstance(uses, list) else []):
            found |= _unknown(use, "tool", f"{place}.expected_tool_use[{number}].")
    return found


def _unknown(item: Json, level: str, prefix: str) -> Object:
    if not isinstance(item, dict):
        return {}
    return {f"{prefix}{key}": item[key] for key in item if fold(key) not in _KNOWN[level]}


def _check_named(test: Object) -> Iterator[Problem]:
    if not test.get("name"):
        yield Problem(
            where="$",
            message="no 'name'",
            hint="without it the test is called by what it asks",
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
            yield Problem(where=f"{path}[{index}]", message="no 'query', which is required")
        uses = turn.get("expected_tool_use")
        for number, use in enumerate(uses if isinstance(uses, list) else []):
            if isinstance(use, dict) and not use.get("tool_name"):
                yield Problem(
                    where=f"{path}[{index}].expected_tool_use[{number}]",
                    message="no 'tool_name', which is required",
                )
