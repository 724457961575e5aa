from __future__ import annotations

import zlib

import msgspec
import pytest

from carob.analysis.calibration import calibrate
from carob.errors import InputError
from carob.schema import Calibration, MetricSpec
from carob.schema.digest import binding_digest
from carob.store import Database
from carob.store.blobs import blob_addresses
from carob.store.calibrations import (
    parse_calibration,
    save_calibration,
    stored_calibrations,
    with_digest,
)
from carob.store.verify import verify
from tests.analysis.judged import judge, judged, labels, metric


def made(use: MetricSpec | None = None, day: int = 1) -> Calibration:
    run = judged({"a": 5.0, "b": 1.0}, use)
    told = labels({"a": 5.0, "b": 1.0})
    return with_digest(calibrate(run, run.metrics[0], told, f"2026-03-0{day}T10:00:00Z"))


@pytest.mark.parametrize("indent", [-1, 2])
def test_a_calibration_that_was_written_is_read_again(indent: int):
    written = msgspec.json.format(msgspec.json.encode(made()), indent=indent)
    assert parse_calibration(written, "c.json") == made()


@pytest.mark.parametrize(
    ("before", "after"),
    [(b'"value":1.0', b'"value":0.9'), (b"local:judge", b"local:other"), (b'"2026', b'"2027')],
)
def test_a_calibration_that_was_edited_is_found(before: bytes, after: bytes):
    edited = msgspec.json.encode(made()).replace(before, after, 1)
    with pytest.raises(InputError, match=r"c\.json: the digest is 'sha256:") as caught:
        parse_calibration(edited, "c.json")
    assert "the file was edited" in str(caught.value.hint)


def test_a_field_of_a_later_version_is_part_of_the_digest_too():
    fields = msgspec.json.decode(msgspec.json.encode(made()))
    with pytest.raises(InputError, match="the digest is"):
        parse_calibration(msgspec.json.encode({**fields, "later": 1}), "c.json")


@pytest.mark.parametrize("data", [b"{}", b"[", b'{"schema": "carob.run/1"}', b"\xff", b"[" * 9999])
def test_what_is_no_calibration_is_said_to_be_none(data: bytes):
    with pytest.raises(InputError, match=r"c\.json: not a calibration: ") as caught:
        parse_calibration(data, "c.json")
    assert "carob calibrate" in str(caught.value.hint)


def test_the_newest_of_the_same_binding_comes_first(database: Database):
    for day in (2, 3, 1):
        save_calibration(database, made(day=day))
    save_calibration(database, made(metric(by=judge("local:other")), day=9))
    assert [one.created_at[:10] for one in stored_calibrations(database, metric())] == [
        "2026-03-03",
        "2026-03-02",
        "2026-03-01",
    ]
    assert all(one.startswith("sha256:") for one in blob_addresses(database, "calibration"))


def test_without_one_the_newest_of_each_other_judge_is_told(database: Database):
    for model, day in (("local:old", 1), ("local:old", 2), ("local:new", 3)):
        save_calibration(database, made(metric(by=judge(model)), day=day))
    save_calibration(database, made(metric("clarity"), day=4))
    assert [one.created_at[:10] for one in stored_calibrations(database, metric())] == [
        "2026-03-03",
        "2026-03-02",
    ]
    assert stored_calibrations(database, metric("humour")) == []


def test_the_same_calibration_is_kept_once_and_verified(database: Database):
    save_calibration(database, made())
    save_calibration(database, made())
    found = verify(database)
    assert (found.contents, found.problems) == (1, ())


def test_a_calibration_that_was_changed_in_the_store_is_found(database: Database):
    save_calibration(database, made())
    other = msgspec.json.encode(msgspec.structs.replace(made(), created_at="2027"))
    database.execute("UPDATE calibration SET body = ?", (zlib.compress(other),))
    assert len(verify(database).problems) == 1
    with pytest.raises(InputError, match="the digest is"):
        stored_calibrations(database, metric())


@pytest.mark.parametrize(
    "other",
    [
        metric("clarity"),
        metric(version=2),
        metric(params={"strict": True}),
        metric(by=judge("local:other")),
        metric(by=judge(params={"temperature": 1.0})),
        metric(by=judge(prompt="sha256:p2")),
        metric(by=judge(rubric="sha256:r2")),
        metric(by=None),
    ],
)
def test_whatever_moves_is_another_binding(other: MetricSpec):
    assert binding_digest(other) != binding_digest(metric())


def test_a_threshold_is_not_part_of_the_binding():
    assert binding_digest(metric(threshold=1.0)) == binding_digest(metric())
