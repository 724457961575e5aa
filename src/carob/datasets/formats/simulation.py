"""The simulation table: golden sessions with their traces, as CSV or JSON Lines.

A row does not state which tool calls and messages belong to which input, so all of them are in the
last turn of the trace, and the other turns have none. Unknown columns are attributes of the trace,
under the same names.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import cast

import msgspec

from carob.datasets.document_types import describe_value, normalize_keys, parse_document
from carob.datasets.formats.reference_data import (
    ReferenceData,
    read_reference,
    split_tags,
    without_nulls,
    write_reference,
)
from carob.datasets.formats.simulation_rows import (
    JSON_COLUMNS,
    KNOWN_COLUMNS,
    REQUIRED_COLUMNS,
    ExtractedData,
    SimulationRow,
    SubAgentTurn,
    ToolUse,
    check_row,
    decode_cells,
    encode_cells,
    to_text,
)
from carob.datasets.lens import Lens, unnamed_header
from carob.datasets.patch import Object, Patch
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import (
    AgentMessage,
    Case,
    Dataset,
    Json,
    Problem,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    content_id,
)
from carob.text.spelling import fold_name

_COLUMNS = (
    "eval_id",
    "session_id",
    *REQUIRED_COLUMNS,
    "agents_evaluated",
    "question_metadata",
    "reference_data",
)
_MAPPED = tuple(name for name in _COLUMNS if name not in ("trace_summary", "session_trace"))
_EXTRACTED = {"statevariables", "toolinteractions", "groundingchunks"}
_RESERVED = {fold_name(name) for name in (*_MAPPED, "question_id")}


class SimulationFormat:
    name = "simulation"
    recognized_by = "a table or rows with `user_inputs` and `final_response` or `extracted_data`"
    containers: tuple[Container, ...] = ("table", "rows", "list")
    writable = True
    derives_ids = False
    items_keys: tuple[str, ...] = ()
    shape: type = SimulationRow

    def claims(self, sample: Json) -> bool:
        names = (
            normalize_keys(sample, KNOWN_COLUMNS).keys() if isinstance(sample, dict) else set[str]()
        )
        return "user_inputs" in names and any(name in names for name in REQUIRED_COLUMNS[1:])

    def items(self, document: Json) -> list[Json]:
        return []

    def cases(self, container: Container) -> Lens[Case]:
        table = container == "table"
        lens = TableLens if table else Lens[Case]
        return lens(
            key=_key(container),
            model=Case,
            read=partial(_read_case, table=table),
            write=_write_cells if table else _write_case,
            reserved_path=None,
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        frame: Object = {"columns": list[Json](_COLUMNS)} if container == "table" else {}
        key = "simulation.list" if container == "list" else _key(container)
        return unnamed_header(key, stem, frame)

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict):
            yield from check_row(item)


class TableLens(Lens[Case]):
    """Ignores the order of columns, which the header of a table determines, not its rows."""

    def find_extra(self, doc: Json) -> Patch | None:
        extra = super().find_extra(doc) or {}
        return {name: extra[name] for name in extra if name != "order"} or None


def _key(container: Container) -> str:
    return "simulation" if container == "table" else "simulation.jsonl"


def _read_case(doc: Json, *, table: bool) -> Case:
    if not isinstance(doc, dict):
        raise FormatError(f"expected an object, got {describe_value(doc)}", where="$")
    columns = decode_cells(doc, table=table)
    _check_json(columns)
    row = parse_document(
        {name: columns[name] for name in KNOWN_COLUMNS if name in columns}, SimulationRow
    )
    users = _texts(row.user_inputs)
    reference = cast("ReferenceData | None", row.reference_data) or ReferenceData()
    truth = read_reference(
        reference, _object(columns, "reference_data"), tuple(Turn(user=text) for text in users)
    )
    metadata, tags = split_tags(_object(columns, "question_metadata"))
    case_id = row.eval_id or row.question_id or content_id(*users)
    return Case(
        id=case_id,
        turns=truth.turns,
        tool_calls=truth.tool_calls,
        trajectory=truth.trajectory,
        state=truth.state,
        agents=None if row.agents_evaluated is None else _texts(row.agents_evaluated),
        contains=truth.contains,
        reference=truth.further,
        tags=tags,
        metadata=metadata,
        recorded=_read_trace(row, columns, case_id),
    )


def _check_json(columns: Object) -> None:
    for name in JSON_COLUMNS:
        if isinstance(value := columns.get(name), str):
            raise FormatError(
                f"expected JSON, got {describe_value(value)}",
                where=f"$.{name}",
                hint="write the cell with `json.dumps`",
            )


def _object(columns: Object, name: str) -> Object:
    value = columns.get(name)
    return value if isinstance(value, dict) else {}


def _texts(value: list[str] | str | None) -> tuple[str, ...]:
    """A list of strings; a single string stands for a list of one."""
    return (value,) if isinstance(value, str) else tuple(value or ())


def _read_trace(row: SimulationRow, columns: Object, case_id: str) -> Trace | None:
    extracted = cast("ExtractedData | None", row.extracted_data) or ExtractedData()
    attributes = _attributes(row, columns)
    last = _read_last_turn(row, extracted)
    has_trace = attributes or columns.get("extracted_data") or row.session_id
    if last == Turn() and not has_trace:
        return None
    *first, user = _texts(row.user_inputs) or (None,)
    # With tool calls in the row, earlier turns have none; without, calls are unknown in all turns.
    none = None if last.tool_calls is None else ()
    turns = (
        *(Turn(user=text, tool_calls=none) for text in first),
        msgspec.structs.replace(last, user=user),
    )
    return Trace(
        id=row.session_id or case_id,
        case=case_id,
        turns=() if turns == (Turn(),) else turns,
        state=extracted.state_variables,
        attributes=attributes,
    )


def _attributes(row: SimulationRow, columns: Object) -> Object:
    stands_for_id = None if row.eval_id else "question_id"
    attributes: Object = {
        name: value
        for name, value in columns.items()
        if name not in _MAPPED and name != stands_for_id
    }
    unknown = _unknown_extracted(columns.get("extracted_data"))
    return {**attributes, "extracted_data": unknown} if unknown else attributes


def _unknown_extracted(extracted: Json) -> Object:
    """The unknown keys of the extracted data."""
    if not isinstance(extracted, dict):
        return {}
    return {name: extracted[name] for name in extracted if fold_name(name) not in _EXTRACTED}


def _read_last_turn(row: SimulationRow, extracted: ExtractedData) -> Turn:
    uses, chunks = extracted.tool_interactions, extracted.grounding_chunks
    messages = tuple(map(_read_message, cast("list[SubAgentTurn]", row.sub_agent_trace or [])))
    return Turn(
        response=_read_response(row.final_response),
        tool_calls=None if uses is None else tuple(map(_read_call, uses)),
        tool_results=tuple(
            _read_result(use) for use in uses or () if use.output_result is not None
        ),
        messages=messages,
        agents=tuple(agent for agent, _ in groupby(message.agent for message in messages) if agent),
        grounding=None if chunks is None else tuple(chunks),
    )


def _read_response(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else to_text(value)


def _read_message(turn: SubAgentTurn) -> AgentMessage:
    return AgentMessage(
        agent=turn.name or turn.agent_name or "", text=turn.text or turn.text_response or ""
    )


def _read_call(use: ToolUse) -> ToolCall:
    return ToolCall(name=use.tool_name, args=use.input_arguments, id=use.call_id)


def _read_result(use: ToolUse) -> ToolResult:
    return ToolResult(name=use.tool_name, id=use.call_id, result=use.output_result)


def _write_cells(case: Case) -> Json:
    return encode_cells(_write_case(case))


def _write_case(case: Case) -> Object:
    users = _users(case)
    trace = case.recorded or Trace(id=case.id)
    further_attributes = {
        name: value for name, value in trace.attributes.items() if fold_name(name) not in _RESERVED
    }
    # A derived id is not written: reading the file derives it again. One that was numbered is.
    case_id = None if case.id == content_id(*users) else case.id
    question = trace.attributes.get("question_id") if case_id else None
    tags: Object = {"tags": list[Json](case.tags)} if case.tags else {}
    return {
        **without_nulls(
            eval_id=case_id,
            session_id=None if trace.id == case.id else trace.id,
            user_inputs=list[Json](users),
            final_response=trace.turns[-1].response if trace.turns else None,
            sub_agent_trace=_write_messages(trace),
            trace_summary=further_attributes.pop("trace_summary", None),
            extracted_data=_write_extracted(trace),
            session_trace=further_attributes.pop("session_trace", None),
            agents_evaluated=None if case.agents is None else list[Json](case.agents),
            question_metadata=(case.metadata | tags) or None,
            reference_data=write_reference(case) or None,
            question_id=question if isinstance(question, str) else None,
        ),
        **further_attributes,
    }


def _users(case: Case) -> list[str]:
    """The user messages; a row must have at least one."""
    traced = case.recorded.turns if case.recorded else ()
    users = [turn.user or "" for turn in case.turns or traced]
    return users or [case.scenario.prompt if case.scenario else ""]


def _write_messages(trace: Trace) -> Json:
    messages = [message for turn in trace.turns for message in turn.messages]
    return [{"name": message.agent, "text": message.text} for message in messages] or None


def _write_extracted(trace: Trace) -> Json:
    """The extracted data; written even if empty, because the format is detected by it."""
    with_calls = [turn for turn in trace.turns if turn.tool_calls is not None]
    uses: list[Json] = [use for turn in with_calls for use in _write_uses(turn)]
    chunks = [chunk for turn in trace.turns for chunk in turn.grounding or ()]
    grounded = any(turn.grounding is not None for turn in trace.turns)
    extracted = without_nulls(
        state_variables=trace.state,
        tool_interactions=uses if with_calls else None,
        grounding_chunks=chunks if grounded else None,
    )
    return {**extracted, **_unknown_extracted(trace.attributes.get("extracted_data"))}


def _write_uses(turn: Turn) -> Iterator[Json]:
    unmatched = list(turn.tool_results)
    for call in turn.tool_calls or ():
        result = next((result for result in unmatched if _belongs_to(result, call)), None)
        if result:
            unmatched.remove(result)
        yield without_nulls(
            tool_name=call.name,
            input_arguments=call.args,
            call_id=call.id,
            output_result=_output(result),
        )


def _belongs_to(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if call.id is not None else result.name == call.name


def _output(result: ToolResult | None) -> Json:
    if result is None or result.result is not None or result.error is None:
        return result and result.result
    return {"error": result.error}
