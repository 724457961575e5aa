"""ADK eval history, the output of `adk eval` and of tRPC-agent-go. Read-only.

A case states what was expected, its trace what the agent did. ADK's scores are attributes of the
trace.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from carob.datasets.document_types import (
    OpenDocument,
    describe_value,
    normalize_keys,
    parse_document,
)
from carob.datasets.formats import list_items
from carob.datasets.formats.adk import read_turn
from carob.datasets.formats.adk_shape import Invocation
from carob.datasets.formats.trpc import to_adk_invocation
from carob.datasets.lens import Lens, read_only_lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import Case, CaseSession, Dataset, Json, Problem, Trace, Turn, content_id
from carob.traces.messages.adk import invocation_turn, session_trace

_STATUSES = {1: "passed", 2: "failed", 3: "not evaluated", 4: "informational"}


class InvocationResult(OpenDocument):
    """One invocation: expected and actual, with scores."""

    actual_invocation: dict[str, Any] | None = None
    expected_invocation: Invocation | None = None
    eval_metric_results: Any = None


class EvalCaseResult(OpenDocument):
    """One run of one eval case."""

    eval_id: str | None = None
    eval_set_file: str | None = None
    eval_set_id: str | None = None
    final_eval_status: int | str | None = None
    eval_metric_results: Any = None
    overall_eval_metric_results: list[Any] | None = None
    eval_metric_result_per_invocation: list[InvocationResult] | None = None
    session_id: str | None = None
    user_id: str | None = None
    session_details: dict[str, Any] | None = None


class EvalSetResult(OpenDocument):
    """All runs of one evaluation."""

    eval_set_result_id: str | None = None
    eval_set_result_name: str | None = None
    eval_set_id: str | None = None
    creation_timestamp: float | None = None
    eval_case_results: list[EvalCaseResult] | None = None


class _Header(OpenDocument):
    eval_set_result_id: str | None = None
    eval_set_result_name: str | None = None
    eval_set_id: str | None = None
    creation_timestamp: float | None = None


_READ = ("eval_id", "session_id", "session_details", "eval_metric_result_per_invocation")


class AdkHistoryFormat:
    name = "adk-history"
    recognized_by = "an object with `eval_set_result_id` or `eval_case_results`"
    containers: tuple[Container, ...] = ("document",)
    writable = False
    derives_ids = True  # an eval case that ran twice is two cases
    items_keys: tuple[str, ...] = ("eval_case_results", "evalCaseResults")
    shape: type = EvalSetResult

    def claims(self, sample: Json) -> bool:
        keys = ("eval_set_result_id", "evalSetResultId", *self.items_keys)
        return isinstance(sample, dict) and any(key in sample for key in keys)

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return read_only_lens(self.name, Case, _read_case)

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return read_only_lens(self.name, Dataset, lambda doc: _read_header(doc, stem))

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict):
            yield from _check_result(normalize_keys(item, EvalCaseResult.__struct_fields__))


def _read_header(doc: Json, stem: str) -> Dataset:
    head = parse_document(doc, _Header)
    metadata: Object = {"eval_set_result_id": head.eval_set_result_id}
    return Dataset(
        name=head.eval_set_id or stem,
        title=head.eval_set_result_name,
        metadata=metadata if head.eval_set_result_id else {},
        created_at=timestamps.from_seconds(head.creation_timestamp),
    )


def _read_case(doc: Json) -> Case:
    doc = _with_adk_expectations(cast("Object", doc))
    result = parse_document(doc, EvalCaseResult)
    trace = _read_trace(result, doc)
    turns = _read_turns(result) or tuple(Turn(user=turn.user) for turn in trace.turns)
    case_id = result.eval_id or content_id(*(turn.user or "" for turn in turns))
    return Case(
        id=case_id,
        turns=turns,
        session=_read_session(trace),
        recorded=msgspec.structs.replace(trace, case=case_id),
    )


def _with_adk_expectations(doc: Object) -> Object:
    """The result with what was expected in the shape of ADK: tRPC-agent-go writes texts for parts.
    What the agent did is read as it is."""
    fields = normalize_keys(doc, EvalCaseResult.__struct_fields__)
    pairs = fields.get("eval_metric_result_per_invocation")
    if not isinstance(pairs, list):
        return doc
    adk: list[Json] = [_with_adk_pair(pair) if isinstance(pair, dict) else pair for pair in pairs]
    return {**fields, "eval_metric_result_per_invocation": adk}


def _with_adk_pair(pair: Object) -> Object:
    fields = normalize_keys(pair, InvocationResult.__struct_fields__)
    expected = fields.get("expected_invocation")
    if not isinstance(expected, dict):
        return pair
    return {**fields, "expected_invocation": to_adk_invocation(expected)}


def _read_turns(result: EvalCaseResult) -> tuple[Turn, ...]:
    """The expected turns; for an invocation without expectations, the user message."""
    turns: list[Turn] = []
    for invocation in result.eval_metric_result_per_invocation or ():
        if invocation.expected_invocation:
            turns.append(read_turn(invocation.expected_invocation))
        elif invocation.actual_invocation:
            turns.append(Turn(user=invocation_turn(invocation.actual_invocation).user))
    return tuple(turns)


def _read_trace(result: EvalCaseResult, doc: Object) -> Trace:
    """The trace in the session's events, or else in the actual invocations."""
    trace = Trace(id=result.session_id or result.eval_id or "", convention="adk")
    if result.session_details:
        trace = session_trace(result.session_details, source="")
    turns = trace.turns or tuple(
        invocation_turn(invocation.actual_invocation)
        for invocation in result.eval_metric_result_per_invocation or ()
        if invocation.actual_invocation
    )
    return msgspec.structs.replace(
        trace,
        id=result.session_id or trace.id,
        source=None,
        turns=turns,
        attributes=trace.attributes | _read_scores(result, doc),
    )


def _read_scores(result: EvalCaseResult, doc: Object) -> Object:
    """All other fields of the result, and the scores of each invocation."""
    fields = normalize_keys(doc, EvalCaseResult.__struct_fields__)
    further_fields = {
        key: value for key, value in fields.items() if key not in _READ and value is not None
    }
    invocations = result.eval_metric_result_per_invocation or ()
    scores: list[Json] = [invocation.eval_metric_results for invocation in invocations]
    if any(scores):
        return {**further_fields, "invocation_metric_results": scores}
    return {**further_fields}


def _read_session(trace: Trace) -> CaseSession | None:
    app, user = trace.attributes.get("app_name"), trace.attributes.get("user_id")
    if not isinstance(app, str) or not isinstance(user, str):
        return None
    return CaseSession(app=app, user=user)


def _check_result(result: Object) -> Iterator[Problem]:
    if not result.get("eval_id"):
        yield Problem(where="$", message="missing field 'eval_id'")
    status = result.get("final_eval_status")
    if isinstance(status, int) and status not in _STATUSES:
        statuses = ", ".join(f"{number} ({word})" for number, word in _STATUSES.items())
        yield Problem(
            where="$.final_eval_status",
            message=f"expected one of {statuses}, got {describe_value(status)}",
        )
    if not any(result.get(key) for key in _READ[2:]):
        yield Problem(
            where="$",
            message="missing fields 'session_details' and 'eval_metric_result_per_invocation'",
            hint="without either, the trace of this case is empty",
            severity="warning",
        )
