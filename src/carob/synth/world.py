"""What a dataset states as a whole: the values of each argument, its words, its tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import msgspec

from carob.schema import Case, Json, ToolCall
from carob.synth.tool_schemas import ToolSchema

_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class World:
    """The cases that variants are made of, and the tools that they call."""

    cases: tuple[Case, ...]
    tools: Mapping[str, ToolSchema] = field(default_factory=dict[str, ToolSchema])

    @cached_property
    def values(self) -> dict[tuple[str, str], tuple[Json, ...]]:
        """The values that the cases pass to each argument of each tool, each once."""
        values: dict[tuple[str, str], list[Json]] = {}
        for call in (call for case in self.cases for call in expected_calls(case)):
            for name, value in call_arguments(call).items():
                known = values.setdefault((call.name, name), [])
                if value not in known:
                    known.append(value)
        return {key: tuple(known) for key, known in values.items()}

    @cached_property
    def text(self) -> str:
        """Everything that the cases say, to see whether a made-up id exists."""
        bare = [msgspec.structs.replace(case, origin=None) for case in self.cases]
        return msgspec.json.encode(bare).decode().casefold()

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of the cases."""
        return frozenset(_WORD.findall(self.text))

    def is_required(self, tool: str, argument: str) -> bool:
        """Whether a tool cannot be called without an argument: its schema says so, or, without a
        schema, every call in the dataset has it."""
        schema = self.tools.get(tool)
        if schema is not None:
            return argument in schema.required
        calls = [call for case in self.cases for call in expected_calls(case) if call.name == tool]
        return all(argument in call_arguments(call) for call in calls)


def expected_calls(case: Case) -> Iterator[ToolCall]:
    """All calls that a case expects."""
    for turn in case.turns:
        yield from turn.tool_calls or ()
    yield from case.tool_calls or ()


def call_arguments(call: ToolCall) -> dict[str, Json]:
    """The arguments of a call by name; none if they are not stated."""
    return call.args if isinstance(call.args, dict) else {}


def argument_texts(calls: Iterable[ToolCall]) -> set[str]:
    """The texts and numbers in the arguments of calls, at any depth."""
    return {text for call in calls for text in leaf_texts(call.args)}


def leaf_texts(value: Json) -> Iterator[str]:
    """The texts and numbers in a JSON value, as texts."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from leaf_texts(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def spell_name(name: str) -> str:
    """The words of an identifier: `order_id` and `orderId` are "order id"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|_+|-+", " ", name).lower()
