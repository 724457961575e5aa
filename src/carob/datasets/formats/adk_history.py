"""ADK eval history: what `adk eval` recorded, for reading only.

A case is what was expected, its recording what the agent did. The scores that ADK gave are
attributes of the recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from carob.datasets.document_types import Open, fit, kind, respelt
from carob.datasets.formats import listed
from carob.datasets.formats.adk import read_turn
from carob.datasets.formats.adk_shape import Invocation
from carob.datasets.lens import Lens, one_way
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.files import timestamps
from carob.schema import Case, Dataset, Json, Problem, Session, Trace, Turn, content_id
from carob.traces.messages.adk_events import session_of, turn_of

_STATUSES = {1: "passed", 2: "failed", 3: "not evaluated", 4: "informational"}


class InvocationResult(Open):
    """What was expected of one invocation, what happened, and its scores."""

    actual_invocation: dict[str, Any] | None = None
    expected_invocation: Invocation | None = None
    eval_metric_results: Any = None


class EvalCaseResult(Open):
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


class EvalSetResult(Open):
    """All runs of one evaluation."""

    eval_set_result_id: str | None = None
    eval_set_result_name: str | None = None
    eval_set_id: str | None = None
    creation_timestamp: float | None = None
    eval_case_results: list[EvalCaseResult] | None = None


class _Header(Open):
    eval_set_result_id: str | None = None
    eval_set_result_name: str | None = None
    eval_set_id: str | None = None
    creation_timestamp: float | None = None


_READ = ("eval_id", "session_id", "session_details", "eval_metric_result_per_invocation")


class AdkHistory:
    name = "adk-history"
    sought = "an object with `eval_set_result_id` or `eval_case_results`"
    containers: tuple[Container, ...] = ("document",)
    writable = False
    derives_ids = True  # an eval case that ran twice is two cases
    items_keys: tuple[str, ...] = ("eval_case_results", "evalCaseResults")
    shape: type = EvalSetResult

    def claims(self, sample: Json) -> bool:
        keys = ("eval_set_result_id", "evalSetResultId", *self.items_keys)
        return isinstance(sample, dict) and any(key in sample for key in keys)

    def items(self, document: Json) -> list[Json]:
        return listed(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return one_way(self.name, Case, _read_case)

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return one_way(self.name, Dataset, lambda doc: _read_header(doc, stem))

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict):
            yield from _check_result(respelt(item, EvalCaseResult.__struct_fields__))


def _read_header(doc: Json, stem: str) -> Dataset:
    head = fit(doc, _Header)
    metadata: Object = {"eval_set_result_id": head.eval_set_result_id}
    return Dataset(
        name=head.eval_set_id or stem,
        title=head.eval_set_result_name,
        metadata=metadata if head.eval_set_result_id else {},
        created_at=timestamps.from_seconds(head.creation_timestamp),
    )


def _read_case(doc: Json) -> Case:
    result = fit(doc, EvalCaseResult)
    recording = _read_recording(result, cast("Object", doc))
    turns = _read_turns(result) or tuple(Turn(user=turn.user) for turn in recording.turns)
    case_id = result.eval_id or content_id(*(turn.user or "" for turn in turns))
    return Case(
        id=case_id,
        turns=turns,
        session=_read_session(recording),
        recording=msgspec.structs.replace(recording, case=case_id),
    )


def _read_turns(result: EvalCaseResult) -> tuple[Turn, ...]:
    """What was expected; of an invocation that nothing was expected of, what the user said."""
    turns: list[Turn] = []
    for one in result.eval_metric_result_per_invocation or ():
        if one.expected_invocation:
            turns.append(read_turn(one.expected_invocation))
        elif one.actual_invocation:
            turns.append(Turn(user=turn_of(one.actual_invocation).user))
    return tuple(turns)


def _read_recording(result: EvalCaseResult, doc: Object) -> Trace:
    """What the session's events tell, or else the invocations."""
    trace = Trace(id=result.session_id or result.eval_id or "", convention="adk")
    if result.session_details:
        trace = session_of(result.session_details, source="")
    turns = trace.turns or tuple(
        turn_of(one.actual_invocation)
        for one in result.eval_metric_result_per_invocation or ()
        if one.actual_invocation
    )
    return msgspec.structs.replace(
        trace,
        id=result.session_id or trace.id,
        source=None,
        turns=turns,
        attributes=trace.attributes | _read_scores(result, doc),
    )


def _read_scores(result: EvalCaseResult, doc: Object) -> Object:
    """All that the result says beside the session, and the scores of each invocation."""
    said = respelt(doc, EvalCaseResult.__struct_fields__)
    found = {key: said[key] for key in said if key not in _READ and said[key] is not None}
    scored = result.eval_metric_result_per_invocation or ()
    scores: list[Json] = [one.eval_metric_results for one in scored]
    return {**found, "invocation_metric_results": scores} if any(scores) else found


def _read_session(recording: Trace) -> Session | None:
    app, user = recording.attributes.get("app_name"), recording.attributes.get("user_id")
    if not isinstance(app, str) or not isinstance(user, str):
        return None
    return Session(app=app, user=user)


def _check_result(result: Object) -> Iterator[Problem]:
    if not result.get("eval_id"):
        yield Problem(where="$", message="no 'eval_id', which is required")
    status = result.get("final_eval_status")
    if isinstance(status, int) and status not in _STATUSES:
        known = ", ".join(f"{number} ({word})" for number, word in _STATUSES.items())
        yield Problem(
            where="$.final_eval_status", message=f"found {kind(status)}, expected one of {known}"
        )
    if not any(result.get(key) for key in _READ[2:]):
        yield Problem(
            where="$",
            message="neither 'session_details' nor 'eval_metric_result_per_invocation'",
            hint="nothing can be said about what the agent did",
            severity="warning",
        )
