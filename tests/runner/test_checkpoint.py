from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from carob.errors import OutputError
from carob.runner.checkpoint import Checkpoint
from carob.runner.job import BatchResult
from carob.schema import CaseResult


class Kept:
    """Batches in memory."""

    def __init__(self) -> None:
        self.batches: dict[int, bytes] = {}

    def load(self) -> Iterator[tuple[int, bytes]]:
        yield from self.batches.items()

    def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
        self.batches = {**batches, **({} if restart else self.batches)}


class ReadOnly(Kept):
    def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
        raise OutputError("cannot be written")


def done(name: str) -> BatchResult:
    return BatchResult(results=(CaseResult(case=name, trace="t", status="passed"),))


def test_batches_of_an_earlier_attempt_are_removed_by_the_first_save_that_succeeds():
    class Busy(Kept):
        refusals = 1

        def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
            if self.refusals:
                self.refusals -= 1
                raise OutputError("the store is locked")
            super().save(batches, restart=restart)

    kept = Busy()
    kept.batches = {7: b"earlier"}
    checkpoint = Checkpoint(kept, resume=False, patience=60)
    assert checkpoint.flush()  # nothing to save yet
    checkpoint.append(0, done("a"))
    assert not checkpoint.flush()
    checkpoint.append(1, done("b"))
    assert checkpoint.flush()
    assert [*kept.batches] == [1]


def test_short_run_saves_nothing():
    kept = Kept()
    Checkpoint(kept, resume=False, patience=60).append(0, done("a"))
    assert kept.batches == {}


def test_time_before_the_first_batch_does_not_make_a_run_long():
    kept = Kept()
    checkpoint = Checkpoint(kept, resume=True, patience=60)
    assert [*checkpoint.finished()] == []
    checkpoint.append(0, done("a"))
    assert kept.batches == {}


def test_batches_of_other_processes_are_saved_as_they_are():
    kept = Kept()
    Checkpoint(kept, resume=False, patience=0).append(3, b'{"results":[]}')
    assert kept.batches == {3: b'{"results":[]}'}


def test_batches_of_a_long_run_are_saved_as_json():
    kept = Kept()
    Checkpoint(kept, resume=False, patience=0).append(2, done("a"))
    assert kept.batches == {2: msgspec.json.encode(done("a"))}
    assert [*Checkpoint(kept, resume=True).finished()] == [*kept.batches.items()]


def test_stopped_run_saves_what_is_pending():
    kept = Kept()
    checkpoint = Checkpoint(kept, resume=False, patience=60)
    checkpoint.append(0, done("a"))
    assert checkpoint.flush()
    assert [*kept.batches] == [0]


def test_run_that_does_not_resume_discards_earlier_batches_once():
    kept = Kept()
    kept.batches = {7: b"{}"}
    checkpoint = Checkpoint(kept, resume=False, patience=0)
    assert [*checkpoint.finished()] == []
    checkpoint.append(0, done("a"))
    checkpoint.append(1, done("b"))
    checkpoint.flush()
    assert [*kept.batches] == [1, 0]


def test_run_goes_on_if_batches_cannot_be_saved():
    checkpoint = Checkpoint(ReadOnly(), resume=False, patience=0)
    checkpoint.append(0, done("a"))
    checkpoint.append(1, done("b"))
    assert not checkpoint.flush()


def test_batches_of_all_attempts_are_counted():
    kept = Kept()
    kept.batches = {0: b"{}", 1: b"{}"}
    checkpoint = Checkpoint(kept, resume=True, patience=60)
    assert len([*checkpoint.finished()]) == 2
    checkpoint.append(2, done("a"))
    checkpoint.append(3, done("b"))
    assert checkpoint.batches == 4


def test_many_batches_wait_for_no_clock_once_saving_has_begun():
    kept = Kept()
    checkpoint = Checkpoint(kept, resume=True, patience=3600)
    for number in range(70):
        checkpoint.append(number, done("a"))
    assert kept.batches == {}  # a short run saves nothing, however many batches it has
    assert checkpoint.flush()
    for number in range(70, 70 + 64):
        checkpoint.append(number, done("a"))
    assert len(kept.batches) == 70 + 64
