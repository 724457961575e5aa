from __future__ import annotations

import gc
import pickle
from collections.abc import Sequence
from pathlib import Path

import pytest

from carob.files.spool import Spool, SpooledSequence, encode_items
from carob.schema import CaseResult
from carob.schema.codec import RESULTS, BytesCodec

ITEMS = tuple(CaseResult(case=f"ä{number}", trace=None, status="passed") for number in range(20))


@pytest.fixture
def spooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpooledSequence[CaseResult]:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    sequence = spool(in_memory=3)
    assert isinstance(sequence, SpooledSequence)
    return sequence


def spool(in_memory: int) -> Sequence[CaseResult]:
    spool = Spool(RESULTS, in_memory)
    spool.extend(ITEMS[:10])
    for item in ITEMS[10:]:
        spool.append_encoded(RESULTS.encode(item))
    return spool.finish()


def test_few_items_are_a_tuple():
    assert spool(in_memory=20) == ITEMS


def test_spooled_items_are_read_in_order_repeatedly_and_by_position(
    spooled: SpooledSequence[CaseResult],
):
    assert tuple(spooled) == tuple(spooled) == ITEMS
    assert (len(spooled), spooled[0], spooled[-1]) == (20, ITEMS[0], ITEMS[-1])
    assert spooled[3:8:2] == ITEMS[3:8:2]
    assert [*zip(spooled, spooled, strict=True)] == [*zip(ITEMS, ITEMS, strict=True)]
    with pytest.raises(IndexError):
        spooled[20]


def test_another_process_reads_the_same_file(spooled: SpooledSequence[CaseResult]):
    copy = pickle.loads(pickle.dumps(spooled))  # noqa: S301 - our own
    assert tuple(copy) == ITEMS


def test_encoded_items_are_those_of_the_file(spooled: SpooledSequence[CaseResult]):
    expected = [RESULTS.encode(item) for item in ITEMS]
    assert [*spooled.view(BytesCodec())] == expected
    assert [*encode_items(spooled, RESULTS.encode)] == expected
    assert [*encode_items(ITEMS, RESULTS.encode)] == expected


def test_items_of_every_size_are_read_whole(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("carob.files.spool._BLOCK", 8)
    items = [bytes([number]) * size for number, size in enumerate((3, 0, 8, 7, 9, 30, 0, 1, 16, 2))]
    spool = Spool(BytesCodec(), in_memory=0)
    spool.extend(items)
    assert list(spool.finish()) == items


def test_file_is_removed_with_its_owner_and_not_with_a_copy(
    spooled: SpooledSequence[CaseResult], tmp_path: Path
):
    view = spooled.view(BytesCodec())
    del view
    gc.collect()
    assert [*tmp_path.iterdir()]


def test_file_of_an_unused_sequence_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(spool(in_memory=3)) == 20
    gc.collect()
    assert [*tmp_path.iterdir()] == []
