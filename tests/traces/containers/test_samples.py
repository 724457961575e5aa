"""The same two turns in every container: each must give the same spans."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from carob.schema import Json, Span
from carob.traces.containers.detect import read_items
from carob.traces.containers.registry import builtin_containers
from carob.traces.reading.assemble import assemble
from carob.traces.reading.json_values import read_values

SAMPLES = Path(__file__).parents[2] / "samples" / "traces" / "containers"
CANONICAL = SAMPLES / "01_otlp_canonical.json"


def spans(path: Path) -> list[Span]:
    records = read_items(read_values(path, report=lambda problem: None), source=path.name)
    traces = assemble(
        (record for record in records if isinstance(record, Span)),
        source="",
        report=lambda problem: None,
    )
    return [span for trace in traces.values() for span in trace]


def essence(span: Span) -> dict[str, Json]:
    """The fields that every container preserves: microseconds, and attributes as text."""
    return {
        "ids": [span.trace_id, span.span_id, span.parent_id],
        "name": span.name,
        "start": (span.start or 0) // 10**6,
        "status": span.status,
        "attributes": {key: as_text(value) for key, value in span.attributes.items()},
    }


def as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value).replace("'", '"')


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_container_gives_the_same_spans(path: Path):
    expected = [essence(span) for span in spans(CANONICAL)]
    assert len(expected) == 9
    assert [essence(span) for span in spans(path)] == expected


OTLP = [path for path in sorted(SAMPLES.iterdir()) if "otlp" in path.name or "tempo" in path.name]


@pytest.mark.parametrize("path", OTLP, ids=lambda path: path.name)
def test_otlp_loses_nothing_in_any_spelling(path: Path):
    if "flat" not in path.name:
        assert spans(path) == spans(CANONICAL)


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_exactly_one_container_claims_each_item(path: Path):
    for value in read_values(path, report=lambda problem: None):
        if isinstance(value, bytes):
            continue
        for item in items(value):
            assert len([c.name for c in builtin_containers() if c.claims(item)]) == 1


def items(value: Json) -> list[Json]:
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    return value if isinstance(value, list) else [value]


def document() -> dict[str, Json]:
    return json.loads(CANONICAL.read_bytes())


REPACKED: dict[str, Callable[[dict[str, Json]], bytes]] = {
    "gzip": lambda doc: gzip.compress(json.dumps(doc).encode()),
    "array": lambda doc: json.dumps([doc]).encode(),
    "json in a string": lambda doc: json.dumps(json.dumps(doc)).encode(),
    "json in a string in a string": lambda doc: json.dumps(json.dumps(json.dumps(doc))).encode(),
    "tempo v2": lambda doc: json.dumps({"trace": doc}).encode(),
    "tempo v2 batches": lambda doc: json.dumps(
        {"trace": {"batches": doc["resourceSpans"]}}
    ).encode(),
    "jaeger v3": lambda doc: json.dumps({"result": doc}).encode(),
    "printed twice": lambda doc: 2 * (json.dumps(doc, indent=1) + "\n").encode(),
    "one resource a line": lambda doc: b"\n".join(
        json.dumps(group).encode() for group in rows(doc["resourceSpans"])
    ),
}


def rows(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


@pytest.mark.parametrize("packing", REPACKED)
def test_compression_changes_nothing(tmp_path: Path, packing: str):
    path = tmp_path / "repacked"
    path.write_bytes(REPACKED[packing](document()))
    assert spans(path) == spans(CANONICAL)


def test_base64_ids_are_the_same_ids(tmp_path: Path):
    raw = CANONICAL.read_text()
    for span in spans(CANONICAL):
        for span_id in (span.trace_id, span.span_id):
            raw = raw.replace(span_id, base64.b64encode(bytes.fromhex(span_id)).decode())
    (tmp_path / "base64.json").write_text(raw)
    assert spans(tmp_path / "base64.json") == spans(CANONICAL)
