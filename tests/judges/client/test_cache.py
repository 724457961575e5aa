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
    judge_cache = cache(tmp_path / "carob.db")
    judge_cache.put("sha256:a", ANSWER)
    assert judge_cache.get("sha256:a") == ANSWER
    judge_cache.close()
    assert cache(tmp_path / "carob.db").get("sha256:a") == ANSWER
    assert cache(tmp_path / "carob.db").get("sha256:b") is None


def test_answers_are_written_in_batches(tmp_path: Path):
    judge_cache = cache(tmp_path / "carob.db")
    for number in range(64):
        judge_cache.put(f"sha256:{number}", ANSWER)
    assert cache(tmp_path / "carob.db").get("sha256:0") == ANSWER
    judge_cache.close()


def test_closed_cache_can_be_used_again(tmp_path: Path):
    judge_cache = cache(tmp_path / "carob.db")
    judge_cache.put("sha256:a", ANSWER)
    judge_cache.close()
    judge_cache.close()
    assert judge_cache.get("sha256:a") == ANSWER
    judge_cache.close()


def test_store_is_opened_only_when_needed(tmp_path: Path):
    cache(tmp_path / "carob.db").close()
    assert not (tmp_path / "carob.db").exists()
