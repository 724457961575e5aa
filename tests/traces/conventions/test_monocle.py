"""What Monocle writes when a model asks for tools."""

from __future__ import annotations

import json

from carob.schema import Span, SpanEvent
from carob.traces.conventions.monocle import Monocle


def inference(*messages: object) -> Span:
    texts = [json.dumps(message) for message in messages]
    event = SpanEvent(name="data.input", attributes={"input": [*texts]})
    return Span(trace_id="t", span_id="s", attributes={"span.type": "inference"}, events=(event,))


def test_calls_of_the_model_are_not_its_answer():
    arguments = json.dumps({"order_id": "MB-20418"})
    call = json.dumps({"tool_function": "lookup_order", "tool_arguments": arguments})
    span = inference({"user": "Where is it?"}, {"assistant": [call]}, {"tool": "shipped"})
    messages = Monocle().inputs[0].read(span)
    assert messages is not None
    assert [(message.role, message.text) for message in messages[:2]] == [
        ("user", "Where is it?"),
        ("assistant", None),
    ]
    assert [(item.name, item.args) for item in messages[1].calls] == [
        ("lookup_order", {"order_id": "MB-20418"})
    ]


def test_printed_messages_have_their_roles():
    span = inference("{'system': 'Be kind.'}", """{'user': "What's open?"}""")
    assert Monocle().user_text(span) == ("data.input", "What's open?")
