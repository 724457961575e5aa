from __future__ import annotations

import pytest

from carob.errors import RefusedError, UsageError
from carob.schema import Case, Dataset, Diff, ReleaseCounts
from carob.versions.diff import diff
from carob.versions.release import count_cases, first_version, next_version

ONE = Dataset(name="support", cases=[Case.of("Open?", "Yes.", id="a")])
TWO = ONE.add(Case.of("Sundays?", "No.", id="b"))
OTHER = Dataset(name="support", cases=[Case.of("Open?", "No.", id="a")])
RETAGGED = Dataset(name="support", cases=[Case.of("Open?", "Yes.", id="a", tags=["x"])])


def after(
    found: Diff,
    *,
    stated: str | None = "1.2.3",
    bump: str | None = None,
    version: str | None = None,
) -> str:
    return next_version("1.2.3", found, stated=stated, bump=bump, version=version)  # pyright: ignore[reportArgumentType] - a bump from a test


@pytest.mark.parametrize(
    ("new", "version"), [(OTHER, "2.0.0"), (TWO, "1.3.0"), (RETAGGED, "1.2.4")]
)
def test_the_version_follows_from_the_changes(new: Dataset, version: str):
    assert after(diff(ONE, new)) == version


def test_a_higher_version_is_welcome():
    assert after(diff(ONE, TWO), bump="major") == "2.0.0"
    assert after(diff(ONE, TWO), version="7.1.0") == "7.1.0"
    assert after(diff(ONE, TWO), stated="1.4.0") == "1.4.0"


@pytest.mark.parametrize("asked", [{"bump": "minor"}, {"version": "1.9.0"}, {"stated": "1.3.0"}])
def test_a_version_too_low_is_refused_with_the_reasons(asked: dict[str, str]):
    with pytest.raises(RefusedError, match="too low") as caught:
        after(diff(ONE, OTHER), **asked)
    assert "a: turns[0].response changed" in str(caught.value)
    assert "2.0.0" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("version", "message"), [("1.2.3", "already released"), ("1.0.0", "lower than 1.2.3")]
)
def test_versions_only_go_up(version: str, message: str):
    with pytest.raises(RefusedError, match=message):
        after(diff(ONE, TWO), version=version)


def test_nothing_new_is_released_only_on_request():
    with pytest.raises(RefusedError, match="nothing changed"):
        after(diff(ONE, ONE))
    assert after(diff(ONE, ONE), bump="patch") == "1.2.4"


@pytest.mark.parametrize(
    ("stated", "version"), [(None, "1.0.0"), ("0.3.0", "0.3.0"), ("summer", "1.0.0")]
)
def test_a_first_release_takes_the_version_of_the_file(stated: str | None, version: str):
    assert first_version(stated, version=None) == version
    assert first_version(stated, version="4.0.0") == "4.0.0"


def test_a_version_that_is_none_is_named():
    with pytest.raises(UsageError, match="expected three numbers"):
        after(diff(ONE, TWO), version="1.3")


def test_cases_are_counted_once_however_much_of_them_changed():
    new = Dataset(name="s", cases=[Case.of("Open?", "No.", id="a", tags=["x"]), *TWO.cases[1:]])
    assert count_cases(diff(ONE, new), new) == ReleaseCounts(before=1, after=2, added=1, changed=1)
    assert count_cases(None, TWO) == ReleaseCounts(before=0, after=2, added=2)
