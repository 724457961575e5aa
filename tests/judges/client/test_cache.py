from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from carob.judges import Kept, Lasting
from carob.store import open_store
from carob.store.shelf import Shelf


def cache(path: Path) -> Lasting:
    @contextmanager
    def shelf() -> Generator[Shelf[Kept]]:
        with open_store(str(path), create=True) as database:
            yield Shelf(database, "judge_cache", Kept)

    return Lasting(shelf)


KEPT = Kept(text='{"score":4}', probabilities={"4": 1.0}, calls=2, input_tokens=9, cost=0.01)


def test_an_answer_lasts(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    one.put("sha256:a", KEPT)
    assert one.get("sha256:a") == KEPT
    one.close()
    assert cache(tmp_path / "carob.db").get("sha256:a") == KEPT
    assert cache(tmp_path / "carob.db").get("sha256:b") is None


def test_answers_are_written_before_all_are_there(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    for number in range(64):
        one.put(f"sha256:{number}", KEPT)
    assert cache(tmp_path / "carob.db").get("sha256:0") == KEPT
    one.close()


def test_a_cache_that_was_closed_can_be_used_again(tmp_path: Path):
    one = cache(tmp_path / "carob.db")
    one.put("sha256:a", KEPT)
    one.close()
    one.close()
    assert one.get("sha256:a") == KEPT
    one.close()


def test_a_store_is_opened_only_when_it_is_needed(tmp_path: Path):
    cache(tmp_path / "carob.db").close()
    assert not (tmp_path / "carob.db").exists()
