"""The rows of Explain files: their types, the inputs of evals, and the rules beyond the types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, cast

import msgspec

from carob.datasets.document_types import OpenDocument, describe_value
from carob.datasets.patch import Object, same
from carob.schema import Json, Problem
from carob.text.spelling import did_you_mean


class _RowDocument(OpenDocument):
    pascal_case: ClassVar[bool] = True


class ExpectedCall(_RowDocument):
    """An expected tool call and its reason, which some files call `outcome`."""

    tool: str = ""
    arguments: Any = None
    reason: str | None = None
    outcome: str | None = None


class InvokedCall(_RowDocument):
    """A recorded tool call and its outcome."""

    tool: str = ""
    arguments: Any = None
    outcome: str | None = None


class ExplainRow(_RowDocument):
    """One golden case with a recorded answer."""

    case_id: str
    scenario_id: str | None = None
    agent_name: str | None = None
    workflow_mode: str | None = None
    phase: str | None = None
    difficulty: str | None = None
    quality_band: str | None = None
    topic_family: str | None = None
    learner_level: str | None = None
    question: str | None = None
    context: str | None = None
    model_answer: str | None = None
    reference_answer: str | None = None
    task_goal: str | None = None
    relevant_context: str | None = None
    available_tools: list[str] | None = None
    expected_tool_calls: list[ExpectedCall] | None = None
    invoked_tool_calls: list[InvokedCall] | None = None
    explain_inputs: dict[str, dict[str, Any]] | None = None
    required_evals: list[str] | None = None
    threshold_profile: str | None = None
    expected_contract: str | None = None


CHOICES: dict[str, tuple[str, ...]] = {
    "phase": ("preparation", "assessment"),
    "difficulty": ("easy", "medium", "hard"),
    "quality_band": ("excellent", "good", "mixed", "poor"),
    "learner_level": ("beginner", "intermediate", "advanced"),
    "workflow_mode": ("multi-agent", "single-agent"),
}

_COMMON_INPUTS = ("input", "question")
EVALS: dict[str, tuple[str, ...]] = {
    "RelevanceExplain": (*_COMMON_INPUTS, "context"),
    "CoherenceExplain": _COMMON_INPUTS,
    "PerceivedIntelligenceExplain": (*_COMMON_INPUTS, "context", "rag_mode"),
    "FluencyExplain": _COMMON_INPUTS,
    "EmpathyExplain": _COMMON_INPUTS,
    "HelpfulnessExplain": _COMMON_INPUTS,
    "IntentResolutionExplain": (*_COMMON_INPUTS, "relevantContext"),
    "ToolCallAccuracyExplain": (*_COMMON_INPUTS, "availableTools", "invokedTools"),
    "TaskAdherenceExplain": (*_COMMON_INPUTS, "goal"),
}
"""The Explain evals, and the inputs of each."""

_SOURCE_FIELDS: dict[str, str] = {
    "input": "model_answer",
    "question": "question",
    "context": "context",
    "relevantContext": "relevant_context",
    "goal": "task_goal",
    "availableTools": "available_tools",
    "invokedTools": "invoked_tool_calls",
}
"""The field of the row that an input repeats."""

_LISTS = ("availableTools", "invokedTools")
_RAG_MODE = "non-rag"
_CASE_ID = re.compile(r".+-\d{3,}")

_COMPARATIVE_FIELDS = ("scenario_id", "agent_name", "threshold_profile", "required_evals")
_USUAL_FIELDS = (
    "scenario_id",
    "agent_name",
    "phase",
    "difficulty",
    "quality_band",
    "topic_family",
    "learner_level",
    "context",
    "model_answer",
    "reference_answer",
    "task_goal",
    "relevant_context",
    "available_tools",
    "expected_tool_calls",
    "invoked_tool_calls",
    "required_evals",
    "threshold_profile",
    "expected_contract",
)


def build_inputs(row: Object) -> Json:
    """The `explain_inputs` of a row with an answer, from its other fields."""
    evals = row.get("required_evals")
    if not isinstance(evals, list) or row.get("model_answer") is None:
        return None
    names = [name for name in evals if isinstance(name, str) and name in EVALS]
    inputs: Object = {
        name: {input_name: _input_value(row, input_name) for input_name in EVALS[name]}
        for name in names
    }
    return inputs or None


def _input_value(row: Object, input_name: str) -> Json:
    if input_name == "rag_mode":
        return _RAG_MODE
    value = row.get(_SOURCE_FIELDS[input_name])
    if value is None:
        return [] if input_name in _LISTS else ""
    return value


def check_row(row: Object) -> Iterator[Problem]:
    """Problems of a row beyond its type."""
    yield from _check_id(row)
    yield from _check_choices(row)
    yield from _check_present(row)
    yield from _check_calls(row)
    yield from _check_available(row)
    yield from _check_evals(row)
    yield from _check_inputs(row)


def _check_id(row: Object) -> Iterator[Problem]:
    case_id, agent = row.get("case_id"), row.get("agent_name")
    if isinstance(case_id, str) and not _CASE_ID.fullmatch(case_id):
        example = f"{agent}-001" if isinstance(agent, str) and agent else "planner-001"
        yield Problem(
            where="$.case_id",
            message=f"expected an id such as {example!r}, got {case_id!r}",
            hint="ids have the form <agent>-<NNN>",
            severity="warning",
        )


def _check_choices(row: Object) -> Iterator[Problem]:
    for name, allowed in CHOICES.items():
        value = row.get(name)
        if isinstance(value, str) and value not in allowed:
            expected = ", ".join(map(repr, allowed))
            yield Problem(
                where=f"$.{name}",
                message=f"expected one of {expected}, got {value!r}",
                hint=did_you_mean(value, allowed),
            )


def _check_present(row: Object) -> Iterator[Problem]:
    if row.get("question") is None:
        yield Problem(where="$", message="missing field 'question'")
    elif row["question"] == "":
        yield Problem(where="$.question", message="empty question", severity="warning")
    compared = row.get("workflow_mode") is not None
    missing = [
        name
        for name in (_COMPARATIVE_FIELDS if compared else _USUAL_FIELDS)
        if row.get(name) is None
    ]
    if missing and compared:
        yield Problem(
            where="$",
            message=f"missing {_listing(missing)}, required in a comparative row",
            hint="a row with `workflow_mode` is compared with another of its scenario",
        )
    elif missing:
        yield Problem(where="$", message=f"missing {_listing(missing)}", severity="warning")


def _listing(names: list[str]) -> str:
    noun = "field" if len(names) == 1 else "fields"
    return f"{noun} {', '.join(map(repr, names))}"


def _check_calls(row: Object) -> Iterator[Problem]:
    for field in ("expected_tool_calls", "invoked_tool_calls"):
        calls = row.get(field)
        for index, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict) and call.get("tool") is None:
                yield Problem(where=f"$.{field}[{index}]", message="missing field 'tool'")


def _check_available(row: Object) -> Iterator[Problem]:
    """Invoked tools must be available, except in calls that failed: agents also call tools that
    they do not have, and such an answer is worth recording."""
    calls, tools = row.get("invoked_tool_calls"), row.get("available_tools")
    if not isinstance(calls, list) or not isinstance(tools, list):
        return
    available = [tool for tool in tools if isinstance(tool, str)]
    for index, call in enumerate(calls):
        tool = call.get("tool") if isinstance(call, dict) and call.get("outcome") != "error" else ""
        if isinstance(tool, str) and tool and tool not in available:
            listing = ", ".join(available) or "none"
            yield Problem(
                where=f"$.invoked_tool_calls[{index}].tool",
                message=f"invoked tool {tool!r} is not among the available tools",
                hint=did_you_mean(tool, available) or f"available_tools: {listing}",
            )


def _check_evals(row: Object) -> Iterator[Problem]:
    evals = row.get("required_evals")
    for index, name in enumerate(evals if isinstance(evals, list) else []):
        if isinstance(name, str) and name not in EVALS:
            yield Problem(
                where=f"$.required_evals[{index}]",
                message=f"unknown eval {name!r}",
                hint=did_you_mean(name, EVALS) or f"expected one of: {', '.join(EVALS)}",
            )


def _check_inputs(row: Object) -> Iterator[Problem]:
    """`explain_inputs` must be complete for the required evals, and equal the row's fields."""
    inputs = row.get("explain_inputs")
    expected = cast("Object", build_inputs(row) or {})
    if inputs is None:
        if expected:
            evals = ", ".join(expected)
            yield Problem(where="$", message=f"missing field 'explain_inputs' for {evals}")
        return
    if not isinstance(inputs, dict):
        return
    for name in expected:
        if name not in inputs:
            yield Problem(where="$.explain_inputs", message=f"missing field {name!r}")
    for name, values in inputs.items():
        yield from _check_eval_inputs(row, name, values)


def _check_eval_inputs(row: Object, name: str, values: Json) -> Iterator[Problem]:
    path = f"$.explain_inputs.{name}"
    if name not in EVALS:
        yield Problem(where=path, message=f"unknown eval {name!r}", hint=did_you_mean(name, EVALS))
    if name not in EVALS or not isinstance(values, dict):
        return
    for input_name in EVALS[name]:
        if input_name not in values:
            message = f"missing field {input_name!r}, required by {name}"
            yield Problem(where=path, message=message)
        elif not _agrees(values[input_name], _input_value(row, input_name)):
            yield _disagreement(f"{path}.{input_name}", input_name, values[input_name])


def _disagreement(path: str, input_name: str, value: Json) -> Problem:
    if input_name == "rag_mode":
        return Problem(where=path, message=f"expected {_RAG_MODE!r}, got {describe_value(value)}")
    field = _SOURCE_FIELDS[input_name]
    return Problem(
        where=path,
        message=f"expected the value of {field!r}, got {describe_value(value)}",
        hint=f"copy {field!r} here",
    )


def _agrees(value: Json, own: Json) -> bool:
    """Is a value the same as that of the row, possibly as JSON in a string?"""
    if isinstance(value, str) and not isinstance(own, str):
        try:
            value = cast("Json", msgspec.json.decode(value))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False
    return value is None or _same_content(value, own)


def _same_content(value: Json, own: Json) -> bool:
    if isinstance(value, list) and isinstance(own, list) and len(value) == len(own):
        return all(map(_same_item, value, own))
    return same(value, own)


def _same_item(value: Json, own: Json) -> bool:
    """Compare two items; invoked tools may be listed by name only."""
    if isinstance(value, str) and isinstance(own, dict):
        return value == own.get("tool")
    return value == own
