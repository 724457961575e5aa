from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.versions.numbers import bump_version, newest_in_range, parse_version

RELEASED = ["0.2.9", "0.3.0", "0.3.4", "1.0.0", "1.2.0", "1.2.7", "1.10.0", "2.0.0"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("latest", "2.0.0"),
        ("", "2.0.0"),
        ("1.2.0", "1.2.0"),
        ("v1.2.0", "1.2.0"),
        ("1.2", "1.2.7"),
        ("1", "1.10.0"),
        ("^1", "1.10.0"),
        ("^1.2.7", "1.10.0"),
        ("^0.3", "0.3.4"),
        ("^0.2.9", "0.2.9"),
        ("~1.2", "1.2.7"),
        ("~1.2.1", "1.2.7"),
        ("~1", "1.10.0"),
        ("^3", None),
        ("1.3.0", None),
    ],
)
def test_a_range_means_its_newest_release(wanted: str, found: str | None):
    assert newest_in_range(wanted, RELEASED) == found


@pytest.mark.parametrize(
    "text", ["1", "1.2", "1.2.3-rc.1", "01.2.3", "one", "", "1.2.3+b", "²1.0.0"]
)
def test_a_release_has_three_numbers(text: str):
    with pytest.raises(UsageError, match="expected three numbers"):
        parse_version(text)


@pytest.mark.parametrize("wanted", ["^", ">=1", "1.x", "1.2.3.4", "../1", "latests"])
def test_an_unknown_range_is_named(wanted: str):
    with pytest.raises(UsageError, match="invalid version"):
        newest_in_range(wanted, RELEASED)


def test_a_bump_clears_the_numbers_behind_it():
    steps = {
        bump: str(bump_version(parse_version("1.2.3"), bump))
        for bump in ("major", "minor", "patch", "none")
    }
    assert steps == {"major": "2.0.0", "minor": "1.3.0", "patch": "1.2.4", "none": "1.2.3"}
