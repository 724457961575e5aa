"""`python -m bench.floor`: a lower bound for reading OTLP lines into traces in Python.

This reads only the one shape of `bench.synthetic_traces` and detects, joins, checks and orders
nothing. Any reader that understands more is slower.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import msgspec
import orjson

from bench.synthetic_traces import synthetic_traces
from carob.schema import AgentMessage, Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.containers.otlp import AnyValue, Request


class _Part(msgspec.Struct, gc=False):
    type: str
    content: str = ""
    name: str = ""
    id: str | None = None
    arguments: Json = None


class _Message(msgspec.Struct, gc=False):
    parts: list[_Part]


_request = msgspec.json.Decoder(Request, strict=False).decode
_messages = msgspec.json.Decoder(list[_Message]).decode
_REPEATS = 5


def main() -> None:
    """Print the times of both sides and their ratio for each file."""
    files = (
        synthetic_traces("small", traces=10_000, tools=1, words=12),
        synthetic_traces("medium", traces=6_250, tools=6, words=220),
        synthetic_traces("large", traces=1_000, tools=47, words=30),
    )
    gc.disable()
    for file in files:
        ours = min(_time_reading(file) for _ in range(_REPEATS))
        theirs = min(_time_decoding(file) for _ in range(_REPEATS))
        sys.stdout.write(
            f"{file.name}: {ours:.3f} s, orjson {theirs:.3f} s: {ours / theirs:.2f}×\n"
        )


def _time_reading(file: Path) -> float:
    start = time.process_time()
    with file.open("rb", buffering=1 << 20) as lines:
        kept = [_trace(line) for line in lines]
    spent = time.process_time() - start
    del kept
    return spent


def _time_decoding(file: Path) -> float:
    with file.open("rb") as lines:
        held = lines.readlines()
    start = time.process_time()
    for line in held:
        orjson.loads(line)
    return time.process_time() - start


def _trace(line: bytes) -> Trace:
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    models: list[ModelCall] = []
    messages: list[AgentMessage] = []
    spans = _request(line).resource_spans[0].scope_spans[0].spans
    root = {pair.key: pair.value for pair in spans[0].attributes}
    for span in spans[1:]:
        held = {pair.key: pair.value for pair in span.attributes}
        if held["gen_ai.operation.name"].string_value == "chat":
            models.append(_model(held))
            for part in _messages(held["gen_ai.output.messages"].string_value or "")[0].parts:
                if part.type == "text":
                    messages.append(AgentMessage("", part.content))
                else:
                    calls.append(ToolCall(part.name, part.arguments, part.id))
        else:
            name, key = held["gen_ai.tool.name"], held["gen_ai.tool.call.id"]
            said = held["gen_ai.tool.call.result"].string_value
            results.append(ToolResult(name.string_value, key.string_value, said))
    turn = Turn(
        user=_messages(root["gen_ai.input.messages"].string_value or "")[0].parts[0].content,
        response=_messages(root["gen_ai.output.messages"].string_value or "")[0].parts[0].content,
        tool_calls=tuple(calls),
        tool_results=tuple(results),
        messages=tuple(messages),
        model_calls=tuple(models),
    )
    return Trace(spans[0].trace_id, (turn,))


def _model(held: dict[str, AnyValue]) -> ModelCall:
    given, made = held["gen_ai.usage.input_tokens"], held["gen_ai.usage.output_tokens"]
    name, provider = held["gen_ai.request.model"], held["gen_ai.provider.name"]
    usage = Usage(given.int_value, made.int_value)
    return ModelCall(name.string_value, provider.string_value, usage)


if __name__ == "__main__":
    main()
