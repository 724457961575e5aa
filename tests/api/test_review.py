"""Reviews in golden files: which bytes change, and which stay."""

from __future__ import annotations

import gzip
import json
from difflib import ndiff
from pathlib import Path

import pytest

from carob.api import datasets, release, versions
from carob.api.load import load
from carob.errors import RefusedError

EXAMPLES = """{ "name": "shop",
    "version": "1.0.0",   "extra": [1.50, 1e3],
    "examples": [
        {"input": "Caf\\u00e9 open?", "expectedOutput": "Yes.", "metadata": {"source": "tickets"}},
        {
            "input": "Bikes?",
            "expectedOutput": "No."
        }
    ]
}"""


def approve(file: Path, *cases: str, by: str = "Lena", date: str | None = "2026-02-01") -> None:
    versions.mark_reviewed(file, cases or None, "approved", by=by, date=date)


def statuses(file: Path) -> list[str]:
    return [review.status for review in versions.review(file)]


def test_only_the_review_changes_in_a_document(tmp_path: Path):
    file = tmp_path / "shop.json"
    file.write_text(EXAMPLES)
    approve(file, "1")
    review = '"review_status": "approved", "reviewed_by": "Lena", "reviewed_at": "2026-02-01"'
    before = '"metadata": {"source": "tickets"}'
    once = EXAMPLES.replace(before, before[:-1] + f", {review}}}")
    assert file.read_text() == once
    approve(file, "Bikes?")
    added = ndiff(once.splitlines(), file.read_text().splitlines())
    assert [line[2:] for line in added if line.startswith("+")] == [
        '            "expectedOutput": "No.",',
        '            "metadata": {',
        '                "review_status": "approved",',
        '                "reviewed_by": "Lena",',
        '                "reviewed_at": "2026-02-01"',
        "            }",
    ]
    assert statuses(file) == ["approved", "approved"]


def test_layout_and_compression_of_rows_stay(tmp_path: Path):
    source = tmp_path / "shop.json"
    source.write_text(EXAMPLES)
    rows = tmp_path / "shop.jsonl"
    datasets.convert(source, rows, to="explain")
    spaced = rows.read_text().replace('{"', '{ "', 1)
    file = tmp_path / "shop.jsonl.gz"
    file.write_bytes(gzip.compress(spaced.encode()))
    (tmp_path / "shop.jsonl.gz.carob.json").write_bytes(
        (tmp_path / "shop.jsonl.carob.json").read_bytes()
    )
    approve(file, "2")
    assert gzip.decompress(file.read_bytes()).startswith(b'{ "')
    assert statuses(file) == ["draft", "approved"]


@pytest.mark.parametrize(
    "table", ['"Input";ExpectedOutput\r\n"Open?";Yes.\r\n', "Input,ExpectedOutput\nOpen?,Yes."]
)
def test_review_of_a_table_changes_only_its_sidecar_file(tmp_path: Path, table: str):
    file = tmp_path / "shop.csv"
    file.write_bytes(table.encode())
    approve(file)
    assert file.read_bytes() == table.encode()
    assert statuses(file) == ["approved"]


def test_history_of_reviewers_is_kept_in_the_file(tmp_path: Path):
    file = tmp_path / "shop.json"
    file.write_text(EXAMPLES)
    approve(file)
    approve(file, "1", by="Sam", date="2026-03-01")
    (first, second) = versions.review(file)
    assert [past.by for past in first.history] == ["Lena"]
    assert second.history == ()


def test_same_review_again_on_the_same_day_covers_later_edits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1767225600")
    file = tmp_path / "shop.json"
    file.write_text(EXAMPLES)
    approve(file, date=None)
    release.release(file, require_approved=True, registry=tmp_path / "registry")
    file.write_text(file.read_text().replace('"No."', '"Of course."'))
    with pytest.raises(RefusedError, match="changed since approval"):
        release.release(file, require_approved=True, registry=tmp_path / "registry")
    approve(file, date=None)
    assert load(file).cases[1].metadata["reviewed_at"] == "2026-01-01T00:00:00Z"
    release.release(file, require_approved=True, registry=tmp_path / "registry")


def test_review_that_changes_nothing_does_not_touch_the_file(tmp_path: Path):
    file = tmp_path / "shop.json"
    file.write_text(json.dumps(json.loads(EXAMPLES)))
    approve(file)
    before = file.stat().st_mtime_ns
    approve(file)
    assert file.stat().st_mtime_ns == before
