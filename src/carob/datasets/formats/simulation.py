"""The simulation table: golden sessions with what the agent did, as CSV or as JSON rows.

A row does not say which of its recorded tool calls and messages belong to which input, so all of
them are in the last turn of the recording, and the others have none. Columns that have no meaning
here are attributes of the recording, under their own names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import cast

import msgspec

from carob.datasets.document_types import fit, kind, respelt
from carob.datasets.formats.reference_data import (
    ReferenceData,
    read_reference,
    split_tags,
    stated,
    write_reference,
)
from carob.datasets.formats.simulation_rows import (
    JSON,
    READ,
    SEED,
    ExtractedData,
    SimulationRow,
    SubAgentTurn,
    ToolUse,
    check_row,
    closed,
    opened,
    to_text,
)
from carob.datasets.lens import Lens
from carob.datasets.patch import Object, Patch
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import (
    Case,
    Dataset,
    Json,
    Message,
    Problem,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    content_id,
)
from carob.text.spelling import fold

_COLUMNS = (
    "eval_id",
    "session_id",
    *SEED,
    "agents_evaluated",
    "question_metadata",
    "reference_data",
)
_MAPPED = tuple(name for name in _COLUMNS if name not in ("trace_summary", "session_trace"))
_EXTRACTED = {"statevariables", "toolinteractions", "groundingchunks"}
_RESERVED = {fold(name) for name in (*_MAPPED, "question_id")}


class Simulation:
    name = "simulation"
    sought = "a table or JSON rows with `user_inputs` and `final_response` or `extracted_data`"
    containers: tuple[Container, ...] = ("table", "rows")
    writable = True
    derives_ids = False
    items_keys: tuple[str, ...] = ()
    shape: type = SimulationRow

    def claims(self, sample: Json) -> bool:
        names = respelt(sample, READ).keys() if isinstance(sample, dict) else set[str]()
        return "user_inputs" in names and any(name in names for name in SEED[1:])

    def items(self, document: Json) -> list[Json]:
        return []

    def cases(self, container: Container) -> Lens[Case]:
        table = container == "table"
        lens = TableLens if table else Lens[Case]
        return lens(
            key=_key(container),
            noun=Case,
            read=partial(_read_case, table=table),
            write=_write_cells if table else _write_case,
            open_at=None,
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        frame: Object = {"columns": list[Json](_COLUMNS)} if container == "table" else {}
        return Lens(
            key=_key(container),
            noun=Dataset,
            read=lambda _: Dataset(name=stem),
            write=lambda _: frame,
            open_at=None,
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, dict):
            yield from check_row(item)


class TableLens(Lens[Case]):
    """The columns of a table have their order from its header, not from its rows."""

    def rest(self, doc: Json) -> Patch | None:
        rest = super().rest(doc) or {}
        return {name: rest[name] for name in rest if name != "order"} or None


def _key(container: Container) -> str:
    return "simulation" if container == "table" else "simulation.jsonl"


def _read_case(doc: Json, *, table: bool) -> Case:
    if not isinstance(doc, dict):
        raise FormatError(f"found {kind(doc)}, expected an object", where="$")
    columns = opened(doc, table=table)
    _check_json(columns)
    row = fit({name: columns[name] for name in READ if name in columns}, SimulationRow)
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
        reference=truth.other,
        tags=tags,
        metadata=metadata,
        recording=_read_recording(row, columns, case_id),
    )


def _check_json(columns: Object) -> None:
    for name in JSON:
        if isinstance(found := columns.get(name), str):
            raise FormatError(
                f"found {kind(found)}, expected JSON",
                where=f"$.{name}",
                hint="write the cell with `json.dumps`",
            )


def _object(columns: Object, name: str) -> Object:
    found = columns.get(name)
    return found if isinstance(found, dict) else {}


def _texts(found: list[str] | str | None) -> tuple[str, ...]:
    """A list of texts; a single one may stand for itself."""
    return (found,) if isinstance(found, str) else tuple(found or ())


def _read_recording(row: SimulationRow, columns: Object, case_id: str) -> Trace | None:
    extracted = cast("ExtractedData | None", row.extracted_data) or ExtractedData()
    attributes = _attributes(row, columns)
    last = _read_last(row, extracted)
    recorded = attributes or columns.get("extracted_data") or row.session_id
    if last == Turn() and not recorded:
        return None
    *first, user = _texts(row.user_inputs) or (None,)
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
    found: Object = {
        name: value
        for name, value in columns.items()
        if name not in _MAPPED and name != stands_for_id
    }
    free = _free(columns.get("extracted_data"))
    return {**found, "extracted_data": free} if free else found


def _free(extracted: Json) -> Object:
    """What of the extracted data has no meaning here."""
    if not isinstance(extracted, dict):
        return {}
    return {name: extracted[name] for name in extracted if fold(name) not in _EXTRACTED}


def _read_last(row: SimulationRow, extracted: ExtractedData) -> Turn:
    uses, chunks = extracted.tool_interactions, extracted.grounding_chunks
    said = tuple(map(_read_message, cast("list[SubAgentTurn]", row.sub_agent_trace or [])))
    return Turn(
        response=_read_response(row.final_response),
        tool_calls=None if uses is None else tuple(map(_read_call, uses)),
        tool_results=tuple(
            _read_result(use) for use in uses or () if use.output_result is not None
        ),
        messages=said,
        agents=tuple(agent for agent, _ in groupby(message.agent for message in said) if agent),
        grounding=None if chunks is None else tuple(chunks),
    )


def _read_response(found: Json) -> str | None:
    return found if found is None or isinstance(found, str) else to_text(found)


def _read_message(said: SubAgentTurn) -> Message:
    return Message(
        agent=said.name or said.agent_name or "", text=said.text or said.text_response or ""
    )


def _read_call(use: ToolUse) -> ToolCall:
    return ToolCall(name=use.tool_name, args=use.input_arguments, id=use.call_id)


def _read_result(use: ToolUse) -> ToolResult:
    return ToolResult(name=use.tool_name, id=use.call_id, result=use.output_result)


def _write_cells(case: Case) -> Json:
    return closed(_write_case(case))


def _write_case(case: Case) -> Object:
    users = _users(case)
    trace = case.recording or Trace(id=case.id)
    others = {
        name: value for name, value in trace.attributes.items() if fold(name) not in _RESERVED
    }
    derived = re.fullmatch(rf"{content_id(*users)}(-\d+)?", case.id)
    case_id = None if derived else case.id
    question = trace.attributes.get("question_id") if case_id else None
    tags: Object = {"tags": list[Json](case.tags)} if case.tags else {}
    return {
        **stated(
            eval_id=case_id,
            session_id=None if trace.id == case.id else trace.id,
            user_inputs=list[Json](users),
            final_response=trace.turns[-1].response if trace.turns else None,
            sub_agent_trace=_write_messages(trace),
            trace_summary=others.pop("trace_summary", None),
            extracted_data=_write_extracted(trace),
            session_trace=others.pop("session_trace", None),
            agents_evaluated=None if case.agents is None else list[Json](case.agents),
            question_metadata=(case.metadata | tags) or None,
            reference_data=write_reference(case) or None,
            question_id=question if isinstance(question, str) else None,
        ),
        **others,
    }


def _users(case: Case) -> list[str]:
    """What the user says; a row must have at least one input."""
    recorded = case.recording.turns if case.recording else ()
    said = [turn.user or "" for turn in case.turns or recorded]
    return said or [case.scenario.prompt if case.scenario else ""]


def _write_messages(trace: Trace) -> Json:
    said = [message for turn in trace.turns for message in turn.messages]
    return [{"name": message.agent, "text": message.text} for message in said] or None


def _write_extracted(trace: Trace) -> Json:
    """Written even if there is nothing to extract: a row is known by it."""
    recorded = [turn for turn in trace.turns if turn.tool_calls is not None]
    uses: list[Json] = [use for turn in recorded for use in _write_uses(turn)]
    chunks = [chunk for turn in trace.turns for chunk in turn.grounding or ()]
    grounded = any(turn.grounding is not None for turn in trace.turns)
    made = stated(
        state_variables=trace.state,
        tool_interactions=uses if recorded else None,
        grounding_chunks=chunks if grounded else None,
    )
    return {**made, **_free(trace.attributes.get("extracted_data"))}


def _write_uses(turn: Turn) -> Iterator[Json]:
    left = list(turn.tool_results)
    for call in turn.tool_calls or ():
        result = next((result for result in left if _answers(result, call)), None)
        if result:
            left.remove(result)
        yield stated(
            tool_name=call.name,
            input_arguments=call.args,
            call_id=call.id,
            output_result=_output(result),
        )


def _answers(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if call.id is not None else result.name == call.name


def _output(result: ToolResult | None) -> Json:
    if result is None or result.result is not None or result.error is None:
        return result and result.result
    return {"error": result.error}
