from __future__ import annotations

import pytest

from carob.schema import Json
from carob.traces.normalize import (
    content_digest_id,
    identity,
    instant,
    kind,
    nanoseconds,
    pad_identity,
    period,
    status,
)

SECOND = 10**9
MOMENT = 1_700_000_000 * SECOND


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("EEE19B7EC3C1B174", "eee19b7ec3c1b174"),
        ("0xeee19b7ec3c1b174", "eee19b7ec3c1b174"),
        ("7uGbfsPBsXQ=", "eee19b7ec3c1b174"),
        ("W47/95gDgQPSabYzgT/GDA==", "5b8efff798038103d269b633813fc60c"),
        (0xEEE19B7EC3C1B174, "eee19b7ec3c1b174"),
        (str(0xEEE19B7EC3C1B174), "eee19b7ec3c1b174"),
        (2**64, "00000000000000010000000000000000"),
        ("1-5759e988-bd862e3fe1be46a994272793", "5759e988bd862e3fe1be46a994272793"),
        ("1234567890123456", "1234567890123456"),
        ("497f6eca-6276-4993-bfeb-53cbbbba6f08", "497f6eca-6276-4993-bfeb-53cbbbba6f08"),
        ("span_Ab", "span_Ab"),
        ("0000000000000000", ""),
        ("AAAAAAAAAAA=", ""),
        ("", ""),
        (None, ""),
        (0, ""),
        (True, ""),
        ([], ""),
    ],
)
def test_id_is_normalized(value: Json, expected: str):
    assert identity(value) == expected


def test_short_hex_id_is_padded():
    assert pad_identity("1F") == "000000000000001f"
    assert pad_identity("1" * 31) == "0" + "1" * 31
    assert pad_identity("not hex") == "not hex"


@pytest.mark.parametrize(
    "value", [3, "3", "CLIENT", "SPAN_KIND_CLIENT", "SpanKind.CLIENT", "client"]
)
def test_kind_is_normalized(value: Json):
    assert kind(value) == "client"


@pytest.mark.parametrize("value", [None, 0, 99, "weird", "SPAN_KIND_UNSPECIFIED", []])
def test_unknown_kind_is_internal(value: Json):
    assert kind(value) == "internal"


@pytest.mark.parametrize(
    "value", [2, "2", "ERROR", "Error", "STATUS_CODE_ERROR", "StatusCode.ERROR", {"code": 2}]
)
def test_status_is_normalized(value: Json):
    assert status(value) == "error"


@pytest.mark.parametrize("value", [None, 0, "", "Unset", True, {}, [], "STATUS_CODE_UNSET"])
def test_unknown_status_is_unset(value: Json):
    assert status(value) == "unset"


@pytest.mark.parametrize(
    "value",
    [
        MOMENT,
        str(MOMENT),
        MOMENT // 1000,
        MOMENT // 10**6,
        1_700_000_000,
        1_700_000_000.0,
        "1700000000",
        [1_700_000_000, 0],
        "2023-11-14T22:13:20Z",
        "2023-11-14 22:13:20",
        "2023-11-14T22:13:20.000000000Z",
        "2023-11-14T23:13:20+01:00",
        "2023-11-14 22:13:20 UTC",
    ],
)
def test_timestamp_is_the_same_in_every_notation(value: Json):
    assert instant(value) == MOMENT


def test_nanoseconds_of_a_date_are_preserved():
    assert instant("2023-11-14T22:13:20.123456789Z") == MOMENT + 123_456_789


@pytest.mark.parametrize(
    "value", [None, "", "soon", 0, -5, True, 1e30, [1], ["a", "b"], {}, "2023-13-45T00:00:00Z"]
)
def test_invalid_time_is_none(value: Json):
    assert instant(value) is None


def test_explicit_nanoseconds_are_unchanged():
    assert nanoseconds("1000") == 1000
    assert [nanoseconds(value) for value in (0, "", -1, "x", 2**63, None)] == [None] * 6


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("PT1M48S", 108),
        ("PT2H", 7200),
        ("P1DT0.5S", 86400.5),
        ("PT0S", 0),
        ("soon", None),
        ("P", None),
    ],
)
def test_durations_with_units_are_parsed(value: str, seconds: float | None):
    assert period(value) == (None if seconds is None else int(seconds * SECOND))


def test_derived_id_depends_on_the_content():
    assert content_digest_id({"a": 1}) == content_digest_id({"a": 1}) != content_digest_id({"a": 2})
