"""Is every release as it was released? All digests are made anew, and the chain is followed.

Whoever rewrites every record from a release on, and the note of the newest one, leaves no trace
here: that takes a second witness, which is git.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from carob.errors import CarobError, InputError
from carob.schema import Dataset, Problem, Release
from carob.schema.digest import dataset_digest
from carob.versions.registry import RECORD, RESTORE, Newest, Released, Shelf, read_record
from carob.versions.seal import digest

Load = Callable[[Released], Dataset]


def verify(shelves: Iterable[Shelf], load: Load | None = None) -> tuple[Problem, ...]:
    """All that was edited, replaced or deleted after its release; what the files say is read and
    compared as well if it is said how to `load` them."""
    return tuple(problem for shelf in shelves for problem in _verify_shelf(shelf, load))


def _verify_shelf(shelf: Shelf, load: Load | None) -> Iterator[Problem]:
    folders = list(shelf.folders())
    releases: list[Released] = []
    for folder in folders:
        try:
            releases.append(Released(read_record(folder), folder))
        except InputError as error:
            yield _problem(error)
    for one in releases:
        problems = list(check_files(one))
        yield from problems
        if load and not problems:
            yield from _content(one, load)
    yield from _chain(shelf, releases, {folder.name for folder in folders})
    yield from _end(shelf, releases, {folder.name for folder in folders})


def _problem(error: CarobError) -> Problem:
    return Problem(where=error.where or "", message=error.message, hint=error.hint)


def check_files(one: Released) -> Iterator[Problem]:
    """What is wrong with the files of a release, byte by byte."""
    record, folder = one
    if record.version != folder.name:
        message = f"was replaced: it is the release {record.version}"
        yield Problem(where=str(folder), message=message, hint=RESTORE)
    for name, expected in record.files.items():
        path = folder / name
        if Path(name).name != name or path.is_symlink() or not path.is_file():
            yield Problem(where=str(path), message="was deleted", hint=RESTORE)
        elif digest(path.read_bytes()) != expected:
            yield Problem(where=str(path), message="was edited", hint=RESTORE)
    for path in sorted(folder.iterdir()):
        if path.name not in record.files and path.name != RECORD:
            message = "was added after the release"
            yield Problem(where=str(path), message=message, hint="remove it")


def _content(one: Released, load: Load) -> Iterator[Problem]:
    """A file that has its bytes must also say what the record says that it says."""
    try:
        found = dataset_digest(load(one))
    except CarobError as error:
        yield _problem(error)
        return
    if found != one.record.digest:
        message = f"its content has the digest {found}, the record says {one.record.digest}"
        yield Problem(where=str(one.file), message=message, hint=RESTORE)


def _chain(shelf: Shelf, releases: list[Released], present: set[str]) -> Iterator[Problem]:
    for one in releases:
        link = one.record.previous
        if link and link.version not in present:
            yield _gone(shelf, link.version, f"{one.record.version} came after it")
    yield from _links(releases)
    owner = releases[0].record.name if releases else None
    for one in releases:
        if one.record.name != owner:
            message = f"is a release of {one.record.name!r} among those of {owner!r}"
            yield Problem(where=str(one.folder), message=message, hint=RESTORE)


def _links(releases: list[Released]) -> Iterator[Problem]:
    by_version = {one.record.version: one.record for one in releases}
    for before, one in pairwise(releases):
        link = one.record.previous
        known = by_version.get(link.version) if link else None
        if link is None or (known and known != before.record):
            after = link.version if link else "none"
            message = f"breaks the chain: it came after {after}, not after {before.record.version}"
            yield Problem(where=str(one.folder), message=message, hint=RESTORE)
        elif known and known.seal != link.seal:
            yield _replaced(before, f"{one.record.version} came after another one")


def _end(shelf: Shelf, releases: list[Released], present: set[str]) -> Iterator[Problem]:
    try:
        newest = shelf.newest()
    except InputError as error:
        yield _problem(error)
        return
    if newest is None:
        return
    if newest.version not in present:
        yield _gone(shelf, newest.version, f"{shelf.newest_path.name} names it")
    yield from (
        _replaced(one, f"{shelf.newest_path.name} names another one")
        for one in releases
        if _is_other(one.record, newest)
    )


def _is_other(record: Release, newest: Newest) -> bool:
    return record.version == newest.version and record.seal != newest.seal


def _gone(shelf: Shelf, version: str, why: str) -> Problem:
    return Problem(where=str(shelf.folder / version), message=f"was deleted: {why}", hint=RESTORE)


def _replaced(one: Released, why: str) -> Problem:
    return Problem(where=str(one.folder), message=f"was replaced: {why}", hint=RESTORE)
