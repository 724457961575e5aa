from __future__ import annotations

import json

import pytest

from carob.schema import Json
from carob.traces.messages.stream_chunks import join_chunks
from carob.traces.shape import as_object

ROSES: list[Json] = [
    {"model": "atlas-2", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"index": 0, "delta": {"content": "Roses "}}]},
    {"choices": [{"index": 1, "delta": {"content": "Tulips"}}]},
    {"choices": [{"index": 0, "delta": {"content": "are in."}}]},
    {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}},
]
CALL_PARTS: list[dict[str, Json]] = [
    {"index": 0, "id": "c1", "function": {"name": "find", "arguments": ""}},
    {"index": 1, "id": "c2", "function": {"name": "price", "arguments": "{}"}},
    {"index": 0, "function": {"arguments": '{"sku": '}},
    {"index": 0, "function": {"arguments": '"B-7"}'}},
]
CALLS: list[Json] = [{"choices": [{"delta": {"tool_calls": [part]}}]} for part in CALL_PARTS]
CLAUDE: list[Json] = [
    {
        "type": "message_start",
        "message": {
            "model": "atlas-2",
            "role": "assistant",
            "usage": {"input_tokens": 9, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "ping"},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "One "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "moment."}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "c1", "name": "find", "input": {}},
    },
    {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '{"sku": "B-'}},
    {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '7"}'}},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 6}},
]


def chunks(events: list[Json]) -> list[Json]:
    return [
        {"object": "chat.completion.chunk", **event} for event in events if isinstance(event, dict)
    ]


def sent(events: list[Json]) -> str:
    return (
        ": open\n\n"
        + "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        + "data: [DONE]\n"
    )


def test_chunks_are_joined_to_the_first_choice():
    message: Json = {"role": "assistant", "content": "Roses are in.", "tool_calls": None}
    expected: Json = {
        "model": "atlas-2",
        "usage": {"prompt_tokens": 9, "completion_tokens": 4},
        "choices": [{"message": message}],
    }
    assert join_chunks(chunks(ROSES)) == join_chunks(sent(ROSES)) == expected


def test_calls_are_joined_by_their_place():
    calls: Json = [
        {"id": "c1", "function": {"name": "find", "arguments": '{"sku": "B-7"}'}},
        {"id": "c2", "function": {"name": "price", "arguments": "{}"}},
    ]
    message: Json = {"role": "assistant", "content": None, "tool_calls": calls}
    assert join_chunks(chunks(CALLS)) == {"choices": [{"message": message}]}


def test_blocks_of_anthropic_are_joined():
    assert (
        join_chunks(CLAUDE)
        == join_chunks(sent(CLAUDE))
        == {
            "model": "atlas-2",
            "role": "assistant",
            "content": [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"sku": "B-7"}},
            ],
            "usage": {"input_tokens": 9, "output_tokens": 6},
        }
    )


def test_stream_that_ended_early_has_no_count_of_its_output():
    joined = as_object(join_chunks(CLAUDE[:-1]))
    assert joined["usage"] == {"input_tokens": 9}


def test_responses_api_repeats_everything_at_the_end():
    response: Json = {"model": "atlas-2", "output": []}
    events: list[Json] = [
        {"type": "response.output_text.delta", "delta": "Yes"},
        {"type": "response.completed", "response": response},
    ]
    assert join_chunks(events) == join_chunks(sent(events)) == response
    assert join_chunks(events[:1]) is None


@pytest.mark.parametrize(
    "value",
    [
        None,
        "data: is what we sell.",
        "We sell data: tables",
        [],
        [{"type": "message", "role": "assistant", "content": "Hi"}],
        {"choices": [{"message": {"content": "Hi"}}]},
    ],
)
def test_what_is_no_stream_stays_as_it_is(value: Json):
    assert join_chunks(value) == value
