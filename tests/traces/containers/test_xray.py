from __future__ import annotations

import json

from carob.schema import Json, Span
from carob.traces.containers import read_items

INNER: Json = {
    "id": "eee19b7ec3c1b175",
    "name": "chat",
    "start_time": 1_700_000_001,
    "fault": True,
    "cause": {"exceptions": [{"message": "boom"}]},
}
SEGMENT: dict[str, Json] = {
    "id": "eee19b7ec3c1b174",
    "trace_id": "1-5b8efff7-98038103d269b633813fc60c",
    "name": "shop",
    "start_time": 1_700_000_000.5,
    "end_time": 1_700_000_002,
    "annotations": {"gen_ai_system": "openai"},
    "metadata": {"default": {"gen_ai.operation.name": "invoke_agent"}},
    "subsegments": [INNER],
}


def read(document: Json) -> list[Span]:
    return [one for one in read_items([document], source="f") if isinstance(one, Span)]


def test_segments_and_their_subsegments_are_spans():
    agent, chat = read(SEGMENT)
    assert agent.trace_id == chat.trace_id == "5b8efff798038103d269b633813fc60c"
    assert (agent.start, agent.end) == (1_700_000_000_500_000_000, 1_700_000_002_000_000_000)
    assert agent.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert (chat.parent_id, chat.status) == (agent.span_id, "error")
    assert chat.status_message == "boom"


def test_segments_come_as_text_within_their_traces():
    segment: Json = {"Id": SEGMENT["id"], "Document": json.dumps(SEGMENT)}
    assert read({"Traces": [{"Id": "1-5b8efff7", "Segments": [segment]}]}) == read(SEGMENT)
