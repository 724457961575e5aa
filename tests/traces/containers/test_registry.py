"""Containers of other packages are used like built-in ones, also in worker processes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from carob.schema import Trace
from carob.traces import read
from carob.traces.containers import registry
from carob.traces.containers.detect import read_items
from carob.traces.containers.registry import add_container_finders, find_container
from carob.traces.read import open_traces

SHOP = """
from carob.schema import Trace, Turn

class ShopLog:
    name = "shop-log"

    def claims(self, item):
        return isinstance(item, dict) and ("asked" in item or "trace_id" in item)

    def read(self, item, *, source):
        turn = Turn(user=item["asked"], response=item["answered"])
        yield Trace(id=item["asked"], turns=(turn,), source=source)

def find():
    return [ShopLog()]
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "carob_shop_log.py").write_text(SHOP)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(registry, "_finders", {})
    add_container_finders([import_module("carob_shop_log").find])
    yield
    registry.extra_containers.cache_clear()


@pytest.mark.usefixtures("shop")
def test_container_of_another_package_is_tried_last():
    (trace,) = read_items([{"data": [{"asked": "Hi?", "answered": "Hi."}]}], source="f")
    assert isinstance(trace, Trace)
    assert (trace.id, trace.source) == ("Hi?", "f")
    flat = find_container({"trace_id": "ab" * 16, "span_id": "cd" * 8})
    assert flat is not None
    assert flat.name == "flat"


@pytest.mark.usefixtures("shop")
def test_worker_processes_know_the_containers_of_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    lines = [f'{{"asked": "Question {number}?", "answered": "Yes."}}\n' for number in range(40)]
    path = tmp_path / "shop.jsonl"
    path.write_text("".join(lines))
    with open_traces([path], report=lambda _: None) as alone:
        expected = list(alone)
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    # Reading in one process is what happens when a worker fails: it must not hide a failure.
    monkeypatch.setattr(read, "collect_chunks", None)
    with open_traces([path], report=lambda _: None, jobs=2) as divided:
        assert list(divided) == expected
    assert len(expected) == 40
