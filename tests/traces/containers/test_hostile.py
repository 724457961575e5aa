"""Reading any file gives records or a CarobError."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carob.errors import CarobError
from carob.schema import Json, Span, Trace
from carob.traces.containers import otlp
from carob.traces.containers.container import LogRecord
from carob.traces.containers.detect import read_items
from carob.traces.containers.registry import builtin_containers
from carob.traces.reading.assemble import assemble
from carob.traces.reading.json_values import read_values

CONTAINERS = builtin_containers()
SAMPLES = Path(__file__).parents[2] / "samples" / "traces" / "containers"
KEYS = [
    *("resourceSpans", "scopeSpans", "spans", "batches", "resourceLogs", "logRecords", "events"),
    *("traceId", "spanId", "trace_id", "span_id", "id", "parent_id", "context", "attributes"),
    *("key", "value", "stringValue", "intValue", "arrayValue", "values", "kvlistValue", "tags"),
    *("traceID", "spanID", "operationName", "processes", "startTime", "duration", "references"),
    *("span_kind", "status", "code", "name", "kind", "start_time", "timestamp", "resource"),
    *("observations", "trace", "type", "metadata", "usage", "input", "object", "span_data"),
    *("run_type", "inputs", "child_runs", "child_spans", "span_attributes", "final_output"),
    *("role", "content", "messages", "traj", "history", "tool_calls", "function", "arguments"),
    *("author", "parts", "functionCall", "functionResponse", "invocationId", "usageMetadata"),
    *("eval_case_results", "eval_id", "session_details", "stateBag", "contents", "$type"),
    *("session_trace", "user_inputs", "final_response", "extracted_data", "data", "result"),
    *("@message", "raw_otel_json", "body", "logs", "context.span_id", "context.trace_id"),
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=6)
    | st.sampled_from(
        ["user", "assistant", "tool", "text", "trace.span", "GENERATION", "{}", "[1]"]
    )
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=40,
)


def read_or_refuse(values: Sequence[Json | bytes | otlp.Records]) -> None:
    try:
        records = list(read_items(values, source="f", report=lambda problem: None))
    except CarobError:
        return
    assemble(
        (record for record in records if isinstance(record, Span | LogRecord)),
        source="f",
        report=lambda problem: None,
    )


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(JSON)
def test_any_json_is_read_or_refused(value: Json):
    read_or_refuse([value])
    for container in CONTAINERS:
        assert container.claims(value) in (True, False)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(CONTAINERS), JSON)
def test_container_reads_every_item_it_claims(container: object, value: Json):
    claimed = next((c for c in CONTAINERS if c is container), CONTAINERS[0])
    if claimed.claims(value):
        for record in claimed.read(value, source="f"):
            assert isinstance(record, Span | LogRecord | Trace)


def mutated(value: Json, chance: random.Random) -> Json:
    """The same document with a few random mutations."""
    if chance.random() < 0.004:
        return chance.choice(
            [None, True, -1, 2**200, 1e300, "", "x", "[]", [], {}, [None], {"": 1}]
        )
    if isinstance(value, list):
        return [mutated(item, chance) for item in value]
    if isinstance(value, dict):
        return {key: mutated(item, chance) for key, item in value.items()}
    return value


def decodable(path: Path) -> list[Json]:
    values = read_values(path, report=lambda problem: None)
    return [value for value in values if not isinstance(value, bytes)]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_damaged_sample_is_read_or_refused(path: Path):
    original = decodable(path)
    for seed in range(15):
        damaged = mutated(original, random.Random(seed))  # noqa: S311
        read_or_refuse(damaged if isinstance(damaged, list) else [damaged])
        typed = [otlp.decode(json.dumps(value).encode()) for value in as_list(damaged)]
        read_or_refuse(typed)


def as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_damaged_bytes_are_read_or_refused(path: Path, tmp_path: Path):
    original = path.read_bytes()
    for seed in range(10):
        chance = random.Random(seed)  # noqa: S311
        raw = bytearray(original[: chance.randrange(1, len(original))])
        for _ in range(5):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        (tmp_path / "f").write_bytes(raw)
        try:
            read_or_refuse(
                list(read_values(tmp_path / "f", report=lambda p: None, decode=otlp.decode))
            )
        except CarobError:
            continue
