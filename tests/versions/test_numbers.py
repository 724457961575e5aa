from __future__ import annotations

import pytest

from carob.errors import RefusedError, UsageError
from carob.schema import Case, Dataset, Diff, ReleaseCounts
from carob.versions.diff import diff
from carob.versions.numbers import (
    bump_version,
    count_cases,
    first_version,
    newest_in_range,
    next_version,
    parse_version,
)

RELEASED = ["0.2.9", "0.3.0", "0.3.4", "1.0.0", "1.2.0", "1.2.7", "1.10.0", "2.0.0"]


@pytest.mark.parametrize(
    ("requested", "newest"),
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
def test_range_selects_its_newest_release(requested: str, newest: str | None):
    assert newest_in_range(requested, RELEASED) == newest


@pytest.mark.parametrize(
    "text", ["1", "1.2", "1.2.3-rc.1", "01.2.3", "one", "", "1.2.3+b", "²1.0.0"]
)
def test_release_has_three_numbers(text: str):
    with pytest.raises(UsageError, match="expected three numbers"):
        parse_version(text)


@pytest.mark.parametrize("requested", ["^", ">=1", "1.x", "1.2.3.4", "../1", "latests"])
def test_invalid_range_is_an_error(requested: str):
    with pytest.raises(UsageError, match="invalid version"):
        newest_in_range(requested, RELEASED)


def test_bump_resets_the_lower_numbers():
    steps = {
        bump: str(bump_version(parse_version("1.2.3"), bump))
        for bump in ("major", "minor", "patch", "none")
    }
    assert steps == {"major": "2.0.0", "minor": "1.3.0", "patch": "1.2.4", "none": "1.2.3"}


DATASET = Dataset(name="support", cases=[Case.of("Open?", "Yes.", id="a")])
TWO = DATASET.add(Case.of("Sundays?", "No.", id="b"))
CHANGED = Dataset(name="support", cases=[Case.of("Open?", "No.", id="a")])
RETAGGED = Dataset(name="support", cases=[Case.of("Open?", "Yes.", id="a", tags=["x"])])


def after(
    difference: Diff,
    *,
    stated: str | None = "1.2.3",
    bump: str | None = None,
    version: str | None = None,
) -> str:
    return next_version("1.2.3", difference, stated=stated, bump=bump, version=version)  # pyright: ignore[reportArgumentType] - a bump from a test


@pytest.mark.parametrize(
    ("new", "version"), [(CHANGED, "2.0.0"), (TWO, "1.3.0"), (RETAGGED, "1.2.4")]
)
def test_version_follows_from_the_changes(new: Dataset, version: str):
    assert after(diff(DATASET, new)) == version


def test_higher_version_is_accepted():
    assert after(diff(DATASET, TWO), bump="major") == "2.0.0"
    assert after(diff(DATASET, TWO), version="7.1.0") == "7.1.0"
    assert after(diff(DATASET, TWO), stated="1.4.0") == "1.4.0"


@pytest.mark.parametrize("options", [{"bump": "minor"}, {"version": "1.9.0"}, {"stated": "1.3.0"}])
def test_version_too_low_is_an_error_with_the_reasons(options: dict[str, str]):
    with pytest.raises(RefusedError, match="too low") as caught:
        after(diff(DATASET, CHANGED), **options)
    assert "a: turns[0].response changed" in str(caught.value)
    assert "2.0.0" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("version", "message"), [("1.2.3", "already released"), ("1.0.0", "lower than 1.2.3")]
)
def test_versions_only_go_up(version: str, message: str):
    with pytest.raises(RefusedError, match=message):
        after(diff(DATASET, TWO), version=version)


def test_unchanged_dataset_is_released_only_on_request():
    with pytest.raises(RefusedError, match="nothing changed"):
        after(diff(DATASET, DATASET))
    assert after(diff(DATASET, DATASET), bump="patch") == "1.2.4"


@pytest.mark.parametrize(
    ("stated", "version"), [(None, "1.0.0"), ("0.3.0", "0.3.0"), ("summer", "1.0.0")]
)
def test_first_release_takes_the_version_of_the_file(stated: str | None, version: str):
    assert first_version(stated, version=None) == version
    assert first_version(stated, version="4.0.0") == "4.0.0"


def test_invalid_version_is_an_error():
    with pytest.raises(UsageError, match="expected three numbers"):
        after(diff(DATASET, TWO), version="1.3")


def test_case_with_several_changes_is_counted_once():
    new = Dataset(name="s", cases=[Case.of("Open?", "No.", id="a", tags=["x"]), *TWO.cases[1:]])
    assert count_cases(diff(DATASET, new), new) == ReleaseCounts(
        before=1, after=2, added=1, changed=1
    )
    assert count_cases(None, TWO) == ReleaseCounts(before=0, after=2, added=2)
