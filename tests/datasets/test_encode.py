from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec
import pytest

from carob.api.datasets import convert
from carob.api.load import load
from carob.datasets.encode import (
    JsonItems,
    JsonMembers,
    compress_parts,
    encode_document,
    encode_list,
    encode_rows,
    encode_table,
    format_parts,
)
from carob.datasets.sidecar import sidecar_path
from carob.errors import OutputError
from carob.files.digest_table import SpooledMapping, collect_mapping
from carob.schema import Json

CASES: list[Json] = [{"id": "a\nb", "tags": [], "turns": [{"user": "ü"}]}, {}, 3]


def documents(values: Iterable[Json]) -> Callable[[], Iterator[Json]]:
    cases = list(values)
    return lambda: iter(cases)


def whole(value: Json) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


@pytest.mark.parametrize("cases", [[], CASES[:1], CASES])
def test_parts_are_the_bytes_of_the_whole_document(cases: list[Json]):
    frame: Json = {"name": "n", "cases": [], "meta": {"a": [1, {"b": []}]}}
    expected: Json = {"name": "n", "cases": cases, "meta": {"a": [1, {"b": []}]}}
    assert b"".join(encode_document(frame, "cases", documents(cases))) == whole(expected)
    assert b"".join(encode_list(documents(cases))) == whole(cases)


def test_objects_and_lists_of_parts_may_be_nested():
    inner = JsonMembers([("x", JsonItems([b"1", b'{"y":2}'])), ("z", JsonMembers([]))])
    parts = format_parts(JsonMembers([("a", inner), ("b", JsonItems([]))]))
    assert b"".join(parts) == whole({"a": {"x": [1, {"y": 2}], "z": {}}, "b": []})


def test_compressed_parts_are_the_bytes_of_the_whole():
    rows = [*encode_rows(documents(CASES * 1000))]
    data = b"".join(compress_parts(rows))
    assert gzip.decompress(data) == b"".join(rows)
    assert data == b"".join(compress_parts([b"".join(rows)]))
    assert data[4:10] == b"\0\0\0\0\2\xff"  # no time, and no operating system


def test_no_rows_are_refused():
    with pytest.raises(OutputError, match="empty dataset"):
        list(encode_rows(documents([])))


def test_a_column_of_the_last_row_is_in_the_header():
    rows: list[Json] = [{"input": "x"}, {"Input": "y", "Tags": "z"}]
    table = b"".join(encode_table({"columns": ["input"]}, documents(rows)))
    assert table == b"input,Tags\nx,\ny,z\n"


def test_a_large_mapping_finds_every_value(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carob.files.digest_table.IN_MEMORY", 4)
    mapping = collect_mapping((f"name-{number % 50}", number) for number in range(60))
    assert isinstance(mapping, SpooledMapping)
    assert [mapping[f"name-{number}"] for number in (9, 10, 49)] == [59, 10, 49]
    assert "name-50" not in mapping
    with pytest.raises(KeyError):
        mapping["name-50"]


def test_a_large_dataset_is_converted_there_and_back_in_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = write_evalset(tmp_path / "golden.json")
    small, large = tmp_path / "small" / "golden.csv", tmp_path / "large" / "golden.csv"
    small.parent.mkdir()
    large.parent.mkdir()
    convert(source, small, to="csv")
    for name, value in {
        "carob.files.spool.IN_MEMORY": 4,
        "carob.files.digest_table.IN_MEMORY": 4,
        "carob.datasets.source.SPLIT_FROM": 1,
        "carob.datasets.json_list.LONG": 1,
        "carob.datasets.sidecar._LARGE": 1,
    }.items():
        monkeypatch.setattr(name, value)
    conversion = convert(source, large, to="csv")
    assert len(conversion.losses) > 30
    assert large.read_bytes() == small.read_bytes()
    assert sidecar_path(large).read_bytes() == sidecar_path(small).read_bytes()
    convert(large, tmp_path / "back.json", to="adk")
    assert (tmp_path / "back.json").read_bytes() == source.read_bytes()
    assert len(load(tmp_path / "back.json")) == 30


def write_evalset(path: Path) -> Path:
    cases = [
        {
            "eval_id": f"case-{number}",
            "conversation": [
                {
                    "invocation_id": f"i-{number}",
                    "user_content": {"role": "user", "parts": [{"text": f"Q {number}?"}]},
                    "final_response": {"role": "model", "parts": [{"text": f"A {number}."}]},
                    "intermediate_data": {"tool_uses": [{"name": "find", "args": {"n": number}}]},
                }
            ],
            "session_input": {"app_name": "shop", "user_id": "u"},
        }
        for number in range(30)
    ]
    document = {"eval_set_id": "shop", "eval_cases": cases}
    path.write_text(json.dumps(document, indent=2) + "\n")
    return path
