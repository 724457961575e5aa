"""`reference_data`, the ground truth in the formats `questions` and `simulation`."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import msgspec

from carob.datasets.document_types import OpenDocument
from carob.datasets.patch import Object
from carob.schema import Case, Json, ToolCall, Turn


class ToolInteraction(OpenDocument):
    """An expected tool call; without arguments, any arguments match."""

    tool_name: str
    input_arguments: dict[str, Any] | None = None


class ReferenceData(OpenDocument):
    """The ground truth. Unknown keys are kept for metrics that use them."""

    reference_tool_interactions: list[ToolInteraction] | None = None
    reference_trajectory: list[str] | None = None
    reference_state_variables: dict[str, Any] | None = None
    expected_response: Any = None
    expected_response_contains: Any = None


class GroundTruth(NamedTuple):
    """The expectations in reference data, as fields of a case."""

    turns: tuple[Turn, ...]
    tool_calls: tuple[ToolCall, ...] | None
    trajectory: tuple[str, ...] | None
    state: dict[str, Json] | None
    contains: tuple[str, ...] | None
    further: dict[str, Json]


def read_reference(shape: ReferenceData, doc: Object, turns: tuple[Turn, ...]) -> GroundTruth:
    """The ground truth for `turns`.

    The expected response belongs to the last turn; tool calls belong to the turn if there is only
    one, else to the case.
    """
    read_fields = set(ReferenceData.__struct_fields__)
    response, contains = shape.expected_response, shape.expected_response_contains
    if not isinstance(response, str) or not turns:
        read_fields.discard("expected_response")
    if not _texts(contains):
        read_fields.discard("expected_response_contains")
    calls = _read_calls(shape.reference_tool_interactions)
    if turns and isinstance(response, str):
        turns = (*turns[:-1], msgspec.structs.replace(turns[-1], response=response))
    if len(turns) == 1 and calls is not None:
        turns, calls = (msgspec.structs.replace(turns[0], tool_calls=calls),), None
    trajectory = shape.reference_trajectory
    return GroundTruth(
        turns=turns,
        tool_calls=calls,
        trajectory=None if trajectory is None else tuple(trajectory),
        state=shape.reference_state_variables,
        contains=tuple(cast("list[str]", contains)) if _texts(contains) else None,
        further={key: value for key, value in doc.items() if key not in read_fields},
    )


def write_reference(case: Case) -> Object:
    """Write the ground truth of a case, standard keys first."""
    calls = all_expected_calls(case)
    response = case.turns[-1].response if case.turns else None
    return {
        **without_nulls(
            reference_tool_interactions=None if calls is None else [_write_call(c) for c in calls],
            reference_trajectory=None if case.trajectory is None else list(case.trajectory),
            reference_state_variables=case.state,
            expected_response=response,
            expected_response_contains=None if case.contains is None else list(case.contains),
        ),
        **case.reference,
    }


def all_expected_calls(case: Case) -> tuple[ToolCall, ...] | None:
    """All expected tool calls of a case, for formats that do not list them by turn."""
    if case.tool_calls is not None:
        return case.tool_calls
    stated_calls = [turn.tool_calls for turn in case.turns if turn.tool_calls is not None]
    return tuple(call for calls in stated_calls for call in calls) if stated_calls else None


def without_nulls(**fields: Json) -> Object:
    """The fields that are not null."""
    return {name: value for name, value in fields.items() if value is not None}


def split_tags(metadata: Object) -> tuple[Object, tuple[str, ...]]:
    """Split the tags from the metadata, where they are a list of strings."""
    tags = metadata.get("tags")
    if not isinstance(tags, list) or not tags or not all(isinstance(tag, str) for tag in tags):
        return metadata, ()
    rest = {key: value for key, value in metadata.items() if key != "tags"}
    return rest, tuple(str(tag) for tag in tags)


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, str) for item in cast("list[object]", value)
    )


def _read_calls(interactions: list[ToolInteraction] | None) -> tuple[ToolCall, ...] | None:
    if interactions is None:
        return None
    return tuple(ToolCall(name=item.tool_name, args=item.input_arguments) for item in interactions)


def _write_call(call: ToolCall) -> Json:
    args = call.args if isinstance(call.args, dict) else None
    return without_nulls(tool_name=call.name, input_arguments=args)
