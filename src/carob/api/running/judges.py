"""The judges of a run, with their answers cached in the store."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial

from carob import plugins
from carob.judges.client.cache import Cache, CachedAnswer, MemoryCache, StoredCache
from carob.judges.pool import JudgePool
from carob.schema import JudgeSettings
from carob.store import exists, open_store
from carob.store.blobs import BlobTable


def judge_pool(
    judge: str | JudgeSettings | None, answers: str | None, *, dry: bool = False
) -> JudgePool:
    """Return the judges of one run. Their answers are cached in the store `answers`, or in memory
    without one. A dry pool does not create a store that does not exist."""

    def open_cache() -> Cache:
        if answers is None or (dry and not exists(answers)):
            return MemoryCache()
        return StoredCache(partial(_answer_table, answers))

    return JudgePool(judge, open_cache, providers=plugins.judge_providers(), dry=dry)


@contextmanager
def _answer_table(url: str) -> Generator[BlobTable[CachedAnswer]]:
    with open_store(url, create=True) as database:
        yield BlobTable(database, "judge_cache", CachedAnswer)
