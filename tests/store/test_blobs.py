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
def test_what_was_put_is_got(database: Database, name: BlobKind):
    shelf = BlobTable(database, name, Answer)
    shelf.put("judge:a", Answer(0.5, "half of it — 金"))
    assert shelf.get("judge:a") == Answer(0.5, "half of it — 金")
    assert shelf.get("judge:b") is None


def test_an_address_stands_for_one_thing_for_ever(database: Database):
    shelf = BlobTable(database, "judge_cache", Answer)
    shelf.put("judge:a", Answer(0.5, "first"))
    shelf.put("judge:a", Answer(0.9, "second"))
    assert shelf.get("judge:a") == Answer(0.5, "first")


@pytest.mark.parametrize("body", [b"no zip", b"x\x9cK\xcc/\xc9\x00\x00\x05\xf8\x02\x1e"])
def test_a_damaged_answer_is_an_error_and_no_answer(database: Database, body: bytes):
    shelf = BlobTable(database, "judge_cache", Answer)
    shelf.put("judge:a", Answer(0.5, "first"))
    database.execute("UPDATE judge_cache SET body = ?", (body,))
    with pytest.raises(InputError, match="judge_cache judge:a is damaged"):
        shelf.get("judge:a")
