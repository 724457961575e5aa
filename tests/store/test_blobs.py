from __future__ import annotations

import msgspec
import pytest

from carob.errors import InputError
from carob.store import Database
from carob.store.blobs import BlobKind, BlobTable


class Answer(msgspec.Struct, frozen=True):
    score: float
    why: str


@pytest.mark.parametrize("name", ["judge_cache", "calibration"])
def test_stored_value_is_read_back(database: Database, name: BlobKind):
    table = BlobTable(database, name, Answer)
    table.put("judge:a", Answer(0.5, "half of it — 金"))
    assert table.get("judge:a") == Answer(0.5, "half of it — 金")
    assert table.get("judge:b") is None


def test_address_is_never_overwritten(database: Database):
    table = BlobTable(database, "judge_cache", Answer)
    table.put("judge:a", Answer(0.5, "first"))
    table.put("judge:a", Answer(0.9, "second"))
    assert table.get("judge:a") == Answer(0.5, "first")


@pytest.mark.parametrize("body", [b"no zip", b"x\x9cK\xcc/\xc9\x00\x00\x05\xf8\x02\x1e"])
def test_damaged_answer_is_an_error_not_a_miss(database: Database, body: bytes):
    table = BlobTable(database, "judge_cache", Answer)
    table.put("judge:a", Answer(0.5, "first"))
    database.execute("UPDATE judge_cache SET body = ?", (body,))
    with pytest.raises(InputError, match="judge_cache judge:a is damaged"):
        table.get("judge:a")
