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
    find_calibrations,
    parse_calibration,
    save_calibration,
    with_digest,
)
from carob.store.verify import verify
from tests.analysis.judged import judge, judged, labels, metric


def make_calibration(use: MetricSpec | None = None, day: int = 1) -> Calibration:
    run = judged({"a": 5.0, "b": 1.0}, use)
    human_labels = labels({"a": 5.0, "b": 1.0})
    return with_digest(calibrate(run, run.metrics[0], human_labels, f"2026-03-0{day}T10:00:00Z"))


@pytest.mark.parametrize("indent", [-1, 2])
def test_calibration_survives_the_round_trip(indent: int):
    text = msgspec.json.format(msgspec.json.encode(make_calibration()), indent=indent)
    assert parse_calibration(text, "c.json") == make_calibration()


@pytest.mark.parametrize(
    ("before", "after"),
    [(b'"value":1.0', b'"value":0.9'), (b"local:judge", b"local:other"), (b'"2026', b'"2027')],
)
def test_edited_calibration_is_detected(before: bytes, after: bytes):
    edited = msgspec.json.encode(make_calibration()).replace(before, after, 1)
    with pytest.raises(InputError, match=r"c\.json: the digest is 'sha256:") as caught:
        parse_calibration(edited, "c.json")
    assert "the file was edited" in str(caught.value.hint)


def test_digest_includes_fields_of_later_versions():
    fields = msgspec.json.decode(msgspec.json.encode(make_calibration()))
    with pytest.raises(InputError, match="the digest is"):
        parse_calibration(msgspec.json.encode({**fields, "later": 1}), "c.json")


@pytest.mark.parametrize("data", [b"{}", b"[", b'{"schema": "carob.run/1"}', b"\xff", b"[" * 9999])
def test_invalid_calibration_is_an_error(data: bytes):
    with pytest.raises(InputError, match=r"c\.json: not a calibration: ") as caught:
        parse_calibration(data, "c.json")
    assert "carob calibrate" in str(caught.value.hint)


def test_newest_calibration_of_the_same_binding_comes_first(database: Database):
    for day in (2, 3, 1):
        save_calibration(database, make_calibration(day=day))
    save_calibration(database, make_calibration(metric(by=judge("local:other")), day=9))
    assert [
        calibration.created_at[:10] for calibration in find_calibrations(database, metric())
    ] == [
        "2026-03-03",
        "2026-03-02",
        "2026-03-01",
    ]
    assert all(address.startswith("sha256:") for address in blob_addresses(database, "calibration"))


def test_without_a_match_the_newest_of_each_other_judge_is_listed(database: Database):
    for model, day in (("local:old", 1), ("local:old", 2), ("local:new", 3)):
        save_calibration(database, make_calibration(metric(by=judge(model)), day=day))
    save_calibration(database, make_calibration(metric("clarity"), day=4))
    assert [
        calibration.created_at[:10] for calibration in find_calibrations(database, metric())
    ] == [
        "2026-03-03",
        "2026-03-02",
    ]
    assert find_calibrations(database, metric("humour")) == []


def test_duplicate_calibration_is_stored_once_and_verified(database: Database):
    save_calibration(database, make_calibration())
    save_calibration(database, make_calibration())
    report = verify(database)
    assert (report.contents, report.problems) == (1, ())


def test_calibration_changed_in_the_store_is_detected(database: Database):
    save_calibration(database, make_calibration())
    changed = msgspec.json.encode(msgspec.structs.replace(make_calibration(), created_at="2027"))
    database.execute("UPDATE calibration SET body = ?", (zlib.compress(changed),))
    assert len(verify(database).problems) == 1
    with pytest.raises(InputError, match="the digest is"):
        find_calibrations(database, metric())


@pytest.mark.parametrize(
    "changed",
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
def test_any_changed_input_is_a_different_binding(changed: MetricSpec):
    assert binding_digest(changed) != binding_digest(metric())


def test_threshold_is_not_part_of_the_binding():
    assert binding_digest(metric(threshold=1.0)) == binding_digest(metric())
