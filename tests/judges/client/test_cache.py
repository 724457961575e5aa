from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from carob.judges.client.cache import CachedAnswer, StoredCache
from carob.store import open_store
from carob.store.blobs import BlobTable


def cache(path: Path) -> StoredCache:
    @contextmanager
    def table() -> Generator[BlobTable[CachedAnswer]]:
        with open_store(str(path), create=True) as database:
            yield BlobTable(database, "judge_cache", CachedAnswer)

    return StoredCache(table)


ANSWER = CachedAnswer(
    text='{"score":4}', probabilities={"4": 1.0}, calls=2, input_tokens=9, cost=0.01
)


def test_answers_survive_the_process(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    one.put("sha256:a", ANSWER)
    assert one.get("sha256:a") == ANSWER
    one.close()
    assert cache(tmp_path / "carob.db").get("sha256:a") == ANSWER
    assert cache(tmp_path / "carob.db").get("sha256:b") is None


def test_answers_are_written_in_batches(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    for number in range(64):
        one.put(f"sha256:{number}", ANSWER)
    assert cache(tmp_path / "carob.db").get("sha256:0") == ANSWER
    one.close()


def test_closed_cache_can_be_used_again(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    one.put("sha256:a", ANSWER)
    one.close()
    one.close()
    assert one.get("sha256:a") == ANSWER
    one.close()


def test_store_is_opened_only_when_needed(tmp_path: Path):
    cache(tmp_path / "carob.db").close()
    assert not (tmp_path / "carob.db").exists()
