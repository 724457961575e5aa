"""Which version a release gets, and why it gets no lower one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from semver import Version

from carob.errors import RefusedError, UsageError
from carob.schema import Bump, Change, CountedCases, Dataset, Diff
from carob.versions.diff import is_lower
from carob.versions.meaning import shown
from carob.versions.numbers import bumped, number

_SHOWN = 5
FIRST = "1.0.0"


def first_version(stated: str | None, *, version: str | None) -> str:
    """The version of a first release: the one asked for, or the one that the file states."""
    if version:
        return str(number(version))
    try:
        return str(number(stated or FIRST))
    except UsageError:
        return FIRST


def next_version(
    last: str, found: Diff, *, stated: str | None, bump: Bump | None, version: str | None
) -> str:
    """The version after `last`; one that promises more than the changes allow is refused."""
    before = number(last)
    wanted = _wanted(before, stated, bump, version)
    if wanted is None:
        if found.bump == "none":
            raise _nothing_new(last)
        return str(bumped(before, found.bump))
    if wanted <= before:
        raise _not_after(last, str(wanted))
    if is_lower(_bump(before, wanted), found.bump):
        raise _too_low(before, wanted, found)
    return str(wanted)


def counted(found: Diff | None, dataset: Dataset) -> CountedCases:
    """How many cases there are, and how many were touched."""
    if found is None:
        return CountedCases(before=0, after=len(dataset.cases), added=len(dataset.cases))
    whole = [change.kind for change in found.changes if change.case and not change.field]
    changed = {change.case for change in found.changes if change.case and change.field}
    return CountedCases(
        before=found.before,
        after=found.after,
        added=whole.count("added"),
        changed=len(changed),
        removed=whole.count("removed"),
    )


def _wanted(
    before: Version, stated: str | None, bump: Bump | None, version: str | None
) -> Version | None:
    """The version that somebody asks for; a file asks by stating one above the last."""
    if version:
        return number(version)
    if bump:
        return bumped(before, bump)
    try:
        claimed = number(stated) if stated else before
    except UsageError:
        return None
    return claimed if claimed > before else None


def _bump(before: Version, after: Version) -> Bump:
    """What a step from one version to another promises."""
    if after.major > before.major:
        return "major"
    return "minor" if after.minor > before.minor else "patch"


def _nothing_new(last: str) -> RefusedError:
    return RefusedError(
        f"nothing has changed since {last}",
        hint="`--bump patch` releases the same data anew, for another model or agent",
    )


def _not_after(last: str, wanted: str) -> RefusedError:
    if wanted == last:
        message, hint = f"version {last} is released already", "a released version never changes"
    else:
        message, hint = (
            f"version {wanted} is lower than {last}, the last release",
            "give a higher one, or leave it to Carob",
        )
    return RefusedError(message, hint=hint)


def _too_low(before: Version, wanted: Version, found: Diff) -> RefusedError:
    reasons = list(_reasons(found.changes, found.bump))
    more = [f"and {len(reasons) - _SHOWN} more"] if len(reasons) > _SHOWN else []
    lines = "\n".join(f"  {reason}" for reason in [*reasons[:_SHOWN], *more])
    return RefusedError(
        f"version {wanted} is too low: the changes since {before} are {found.bump}\n{lines}",
        hint=f"release {bumped(before, found.bump)}, or leave the version to Carob",
    )


def _reasons(changes: Iterable[Change], level: Bump) -> Iterator[str]:
    for change in changes:
        if change.level == level:
            where = change.case or "the dataset"
            yield shown(f"{where}: {change.field + ' ' if change.field else ''}{change.kind}")
