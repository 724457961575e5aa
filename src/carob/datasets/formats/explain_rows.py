"""What an Explain row must say beyond its shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

import msgspec

from carob.datasets.document_types import kind
from carob.datasets.patch import Object, same
from carob.schema import Json, Problem
from carob.text.spelling import meant

CHOICES: dict[str, tuple[str, ...]] = {
    "phase": ("preparation", "assessment"),
    "difficulty": ("easy", "medium", "hard"),
    "quality_band": ("excellent", "good", "mixed", "poor"),
    "learner_level": ("beginner", "intermediate", "advanced"),
    "workflow_mode": ("multi-agent", "single-agent"),
}

_ANSWERED = ("input", "question")
EVALS: dict[str, tuple[str, ...]] = {
    "RelevanceExplain": (*_ANSWERED, "context"),
    "CoherenceExplain": _ANSWERED,
    "PerceivedIntelligenceExplain": (*_ANSWERED, "context", "rag_mode"),
    "FluencyExplain": _ANSWERED,
    "EmpathyExplain": _ANSWERED,
    "HelpfulnessExplain": _ANSWERED,
    "IntentResolutionExplain": (*_ANSWERED, "relevantContext"),
    "ToolCallAccuracyExplain": (*_ANSWERED, "availableTools", "invokedTools"),
    "TaskAdherenceExplain": (*_ANSWERED, "goal"),
}
"""The Explain evals, and what the bundle of each holds."""

_SAID_BY: dict[str, str] = {
    "input": "model_answer",
    "question": "question",
    "context": "context",
    "relevantContext": "relevant_context",
    "goal": "task_goal",
    "availableTools": "available_tools",
    "invokedTools": "invoked_tool_calls",
}
"""The field of the row that a payload of a bundle repeats."""

_LISTS = ("availableTools", "invokedTools")
_RAG_MODE = "non-rag"
_CASE_ID = re.compile(r".+-\d{3,}")

_COMPARED = ("scenario_id", "agent_name", "threshold_profile", "required_evals")
_FULL = (
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


def bundle(row: Object) -> Json:
    """The `explain_inputs` of a row with an answer, made of its own fields."""
    evals = row.get("required_evals")
    if not isinstance(evals, list) or row.get("model_answer") is None:
        return None
    known = [name for name in evals if isinstance(name, str) and name in EVALS]
    made: Object = {
        name: {payload: _payload(row, payload) for payload in EVALS[name]} for name in known
    }
    return made or None


def _payload(row: Object, payload: str) -> Json:
    if payload == "rag_mode":
        return _RAG_MODE
    value = row.get(_SAID_BY[payload])
    if value is None:
        return [] if payload in _LISTS else ""
    return value


def check_row(row: Object) -> Iterator[Problem]:
    """Everything that is wrong with a row beyond its shape."""
    yield from _check_id(row)
    yield from _check_choices(row)
    yield from _check_present(row)
    yield from _check_calls(row)
    yield from _check_evals(row)
    yield from _check_inputs(row)


def _check_id(row: Object) -> Iterator[Problem]:
    case_id, agent = row.get("case_id"), row.get("agent_name")
    if isinstance(case_id, str) and not _CASE_ID.fullmatch(case_id):
        example = f"{agent}-001" if isinstance(agent, str) and agent else "planner-001"
        yield Problem(
            where="$.case_id",
            message=f"found {case_id!r}, expected `<agent>-<NNN>`",
            hint=f"such as {example!r}",
            severity="warning",
        )


def _check_choices(row: Object) -> Iterator[Problem]:
    for name, allowed in CHOICES.items():
        value = row.get(name)
        if isinstance(value, str) and value not in allowed:
            expected = ", ".join(map(repr, allowed))
            yield Problem(
                where=f"$.{name}",
                message=f"found {value!r}, expected one of {expected}",
                hint=meant(value, allowed),
            )


def _check_present(row: Object) -> Iterator[Problem]:
    if row.get("question") is None:
        yield Problem(where="$", message="no 'question', which is required")
    elif row["question"] == "":
        yield Problem(where="$.question", message="found an empty text", severity="warning")
    compared = row.get("workflow_mode") is not None
    missing = [name for name in (_COMPARED if compared else _FULL) if row.get(name) is None]
    if missing and compared:
        yield Problem(
            where="$",
            message=f"no {_listing(missing)}, which a comparative row needs",
            hint="a row with `workflow_mode` is compared with another of its scenario",
        )
    elif missing:
        yield Problem(where="$", message=f"no {_listing(missing)}", severity="warning")


def _listing(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _check_calls(row: Object) -> Iterator[Problem]:
    for field in ("expected_tool_calls", "invoked_tool_calls"):
        calls = row.get(field)
        for index, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict) and call.get("tool") is None:
                yield Problem(where=f"$.{field}[{index}]", message="no 'tool', which is required")


def _check_evals(row: Object) -> Iterator[Problem]:
    evals = row.get("required_evals")
    for index, name in enumerate(evals if isinstance(evals, list) else []):
        if isinstance(name, str) and name not in EVALS:
            yield Problem(
                where=f"$.required_evals[{index}]",
                message=f"no eval {name!r}",
                hint=meant(name, EVALS) or f"the evals are {', '.join(EVALS)}",
            )


def _check_inputs(row: Object) -> Iterator[Problem]:
    """Complete for the required evals, and saying the same as the row."""
    inputs = row.get("explain_inputs")
    made = cast("Object", bundle(row) or {})
    if inputs is None:
        if made:
            yield Problem(where="$", message=f"no 'explain_inputs' for {_listing(list(made))}")
        return
    if not isinstance(inputs, dict):
        return
    for name in made:
        if name not in inputs:
            yield Problem(where="$.explain_inputs", message=f"no {name!r}, which is required")
    for name, found in inputs.items():
        yield from _check_bundle(row, name, found)


def _check_bundle(row: Object, name: str, found: Json) -> Iterator[Problem]:
    path = f"$.explain_inputs.{name}"
    if name not in EVALS:
        yield Problem(where=path, message=f"no eval {name!r}", hint=meant(name, EVALS))
    if name not in EVALS or not isinstance(found, dict):
        return
    for payload in EVALS[name]:
        if payload not in found:
            yield Problem(where=path, message=f"no {payload!r}, which {name} needs")
        elif not _agrees(found[payload], _payload(row, payload)):
            yield _disagreement(f"{path}.{payload}", payload, found[payload])


def _disagreement(path: str, payload: str, found: Json) -> Problem:
    if payload == "rag_mode":
        return Problem(where=path, message=f"found {kind(found)}, expected {_RAG_MODE!r}")
    field = _SAID_BY[payload]
    return Problem(
        where=path,
        message=f"found {kind(found)}, the row's own {field!r} says something else",
        hint=f"copy {field!r} here",
    )


def _agrees(found: Json, own: Json) -> bool:
    """The same, or the same as JSON text."""
    if isinstance(found, str) and not isinstance(own, str):
        try:
            found = cast("Json", msgspec.json.decode(found))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return False
    return found is None or _same_content(found, own)


def _same_content(found: Json, own: Json) -> bool:
    if isinstance(found, list) and isinstance(own, list) and len(found) == len(own):
        return all(map(_same_item, found, own))
    return same(found, own)


def _same_item(found: Json, own: Json) -> bool:
    """Invoked tools may be given by their names."""
    if isinstance(found, str) and isinstance(own, dict):
        return found == own.get("tool")
    return found == own
