"""Explain rows: a golden case and a recorded answer in each.

A row holds one exchange. `explain_inputs` repeats other fields of the row for each eval, so it is
written from them and never read.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.datasets.document_types import normalize_keys, parse_document
from carob.datasets.formats.examples import first_exchange
from carob.datasets.formats.explain_rows import (
    CHOICES,
    EVALS,
    ExpectedCall,
    ExplainRow,
    InvokedCall,
    build_inputs,
    check_row,
)
from carob.datasets.formats.reference_data import all_expected_calls, without_nulls
from carob.datasets.lens import Lens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Case, Dataset, Json, Problem, ToolCall, ToolResult, Trace, Turn
from carob.text.spelling import fold_name

_LABELS = (
    "scenario_id",
    "workflow_mode",
    "phase",
    "difficulty",
    "quality_band",
    "topic_family",
    "learner_level",
)
"""Fields that are metadata of a case, under the same names."""


class ExplainFormat:
    name = "explain"
    recognized_by = "JSON Lines, or a list, with `case_id` and `question`"
    containers: tuple[Container, ...] = ("rows", "list")
    writable = True
    derives_ids = False
    items_keys: tuple[str, ...] = ()
    shape: type = ExplainRow

    def claims(self, sample: Json) -> bool:
        keys = set(map(fold_name, sample)) if isinstance(sample, dict) else set[str]()
        return {"caseid", "question"} <= keys and "userinputs" not in keys

    def items(self, document: Json) -> list[Json]:
        return []

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name, model=Case, read=_read_case, write=_write_case, reserved_path=None
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return unnamed_header("explain.list" if container == "list" else self.name, stem)

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict):
            yield from check_row(normalize_keys(item, ExplainRow.__struct_fields__))


def _read_case(doc: Json) -> Case:
    row = parse_document(doc, ExplainRow)
    return Case(
        id=row.case_id,
        turns=_read_turns(row),
        context=row.context,
        agents=None if row.agent_name is None else (row.agent_name,),
        tools=None if row.available_tools is None else tuple(row.available_tools),
        contract=row.expected_contract,
        goal=row.task_goal,
        relevant_context=row.relevant_context,
        metrics=None if row.required_evals is None else tuple(row.required_evals),
        profile=row.threshold_profile,
        metadata=without_nulls(**{name: getattr(row, name) for name in _LABELS}),
        recorded=_read_trace(row),
    )


def _read_turns(row: ExplainRow) -> tuple[Turn, ...]:
    calls = row.expected_tool_calls
    if row.question is None and row.reference_answer is None and calls is None:
        return ()
    expected = None if calls is None else tuple(map(_read_expected, calls))
    return (Turn(user=row.question, response=row.reference_answer, tool_calls=expected),)


def _read_expected(call: ExpectedCall) -> ToolCall:
    reason = call.outcome if call.reason is None else call.reason
    return ToolCall(name=call.tool, args=call.arguments, reason=reason)


def _read_trace(row: ExplainRow) -> Trace | None:
    calls = row.invoked_tool_calls
    if row.model_answer is None and calls is None:
        return None
    errors = [call.tool for call in calls or () if call.outcome == "error"]
    turn = Turn(
        user=row.question,
        response=row.model_answer,
        tool_calls=None if calls is None else tuple(map(_read_invoked, calls)),
        tool_results=tuple(ToolResult(name=tool, error="error") for tool in errors),
    )
    return Trace(id=row.case_id, case=row.case_id, turns=(turn,))


def _read_invoked(call: InvokedCall) -> ToolCall:
    return ToolCall(name=call.tool, args=call.arguments, outcome=call.outcome)


def _write_case(case: Case) -> Json:
    labels = {name: _label(case, name) for name in _LABELS}
    tail = without_nulls(
        required_evals=_write_evals(case),
        threshold_profile=case.profile,
        expected_contract=case.contract,
    )
    row = without_nulls(
        case_id=case.id,
        scenario_id=labels.pop("scenario_id"),
        agent_name=case.agents[0] if case.agents and len(case.agents) == 1 else None,
        **labels,
        **_write_exchange(case),
    )
    return {**row, **without_nulls(explain_inputs=build_inputs({**row, **tail})), **tail}


def _write_exchange(case: Case) -> Object:
    question, _ = first_exchange(case)
    recorded_turns = case.recorded.turns if case.recorded else ()
    # A row is one exchange: what a longer case expects in total is not expected of its first turn.
    expected = all_expected_calls(case) if len(case.turns) < 2 else case.turns[0].tool_calls
    invoked = _write_invoked_calls(recorded_turns)
    return {
        "question": question,
        "context": case.context,
        "model_answer": recorded_turns[0].response if recorded_turns else None,
        "reference_answer": case.turns[0].response if case.turns else None,
        "task_goal": case.goal,
        "relevant_context": case.relevant_context,
        "available_tools": None if case.tools is None else list[Json](case.tools),
        "expected_tool_calls": None if expected is None else [_write_expected(c) for c in expected],
        "invoked_tool_calls": invoked,
    }


def _label(case: Case, name: str) -> str | None:
    """A label for the row; `None` if the format does not allow the value."""
    value = case.metadata.get(name)
    allowed = CHOICES.get(name)
    return value if isinstance(value, str) and (not allowed or value in allowed) else None


def _write_evals(case: Case) -> Json:
    """The metrics that are Explain evals; others have no equivalent."""
    evals: list[Json] = [name for name in case.metrics or () if name in EVALS]
    return evals if evals or case.metrics == () else None


def _write_expected(call: ToolCall) -> Json:
    return without_nulls(tool=call.name, arguments=call.args, reason=call.reason)


def _write_invoked_calls(turns: tuple[Turn, ...]) -> Json:
    recorded = [turn for turn in turns if turn.tool_calls is not None]
    if not recorded:
        return None
    return [_write_invoked(call, turn) for turn in recorded for call in turn.tool_calls or ()]


def _write_invoked(call: ToolCall, turn: Turn) -> Json:
    # Without an id, the failed result of another call of the same tool could be mistaken for it.
    failed = call.id is not None and any(
        result.id == call.id and result.error is not None for result in turn.tool_results
    )
    outcome = "error" if call.outcome is None and failed else call.outcome
    return without_nulls(tool=call.name, arguments=call.args, outcome=outcome)
