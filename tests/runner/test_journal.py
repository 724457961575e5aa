from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import OutputError
from carob.runner.job import BatchResult
from carob.runner.journal import Journal
from carob.schema import CaseResult, CaseScore


def done(name: str) -> BatchResult:
    score = CaseScore(metric="m", status="passed", value=1.0, details={"a": [1]})
    return BatchResult(
        results=(CaseResult(case=name, trace="t", status="passed", scores=(score,)),)
    )


def test_short_run_leaves_nothing_behind(tmp_path: Path):
    journal = Journal(tmp_path / "j" / "x.jsonl", resume=False, patience=60)
    journal.append(0, done("a"))
    journal.close()
    assert list(tmp_path.iterdir()) == []


def test_appended_batch_is_read_back(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    first = Journal(path, resume=False, patience=0)
    first.append(0, done("a"))
    first.append(2, done("b"))
    assert list(Journal(path, resume=True).finished()) == [(0, done("a")), (2, done("b"))]


def test_batches_stay_in_memory_during_a_short_run(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    journal = Journal(path, resume=False, patience=60)
    journal.append(0, done("a"))
    assert not path.exists()
    journal.flush()
    assert [number for number, _ in Journal(path, resume=True).finished()] == [0]


def test_truncated_line_is_an_unfinished_batch(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    journal = Journal(path, resume=False, patience=0)
    journal.append(0, done("a"))
    journal.append(1, done("b"))
    content = path.read_bytes()
    for length in range(len(content) // 2 + 1, len(content)):
        path.write_bytes(content[:length])
        assert [number for number, _ in Journal(path, resume=True).finished()] == [0]


def test_resumed_run_does_not_append_to_a_truncated_line(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    Journal(path, resume=False, patience=0).append(0, done("a"))
    path.write_bytes(path.read_bytes() + b'{"batch":1,"do')
    second = Journal(path, resume=True, patience=0)
    assert len(list(second.finished())) == 1
    second.append(1, done("b"))
    assert [number for number, _ in Journal(path, resume=True).finished()] == [0, 1]


def test_without_resume_an_old_journal_is_discarded(tmp_path: Path):
    path = tmp_path / "x.jsonl"
    Journal(path, resume=False, patience=0).append(0, done("a"))
    assert list(Journal(path, resume=False).finished()) == []


def test_run_continues_without_a_journal_and_fails_only_when_it_is_stopped(tmp_path: Path):
    (tmp_path / "file").touch()
    journal = Journal(tmp_path / "file" / "x.jsonl", resume=False, patience=0)
    journal.append(0, done("a"))
    with pytest.raises(OutputError, match="cannot write the journal"):
        journal.flush()
    journal.close()
