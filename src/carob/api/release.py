"""The use-case of a release."""

from __future__ import annotations

import getpass
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from carob import plugins
from carob.api.clock import timestamp
from carob.api.datasets import save
from carob.api.load import (
    REGISTRY,
    PathName,
    check_unique_ids,
    format_name,
    load,
    load_release,
    writable_path,
)
from carob.api.versions import diff_datasets
from carob.datasets import write as writing
from carob.datasets.read import get_format
from carob.datasets.sidecar import sidecar_path
from carob.errors import RefusedError, UsageError
from carob.files.atomic import write_atomic
from carob.schema import Bump, Dataset, Diff, PreviousRelease, Release
from carob.schema.digest import dataset_digest
from carob.versions import changelog, git
from carob.versions.diff import with_losses
from carob.versions.digests import file_digest, seal_release
from carob.versions.publish import (
    StagedRelease,
    already_released,
    disable_line_end_conversion,
    registry_lock,
    stage_release,
)
from carob.versions.registry import CHANGELOG, RECORD, DatasetReleases, Registry, StoredRelease
from carob.versions.release import count_cases, first_version, next_version
from carob.versions.review import unapproved
from carob.versions.verify import verify
from carob.versions.version_field import set_version

_SCHEMA = "carob.release/1"
_SHOWN = 20


class _Since(NamedTuple):
    """The last release, and what changed since."""

    last: StoredRelease
    diff: Diff


def release(
    path: PathName,
    *,
    bump: Bump | None = None,
    version: str | None = None,
    made_for: Sequence[str] = (),
    by: str | None = None,
    date: str | None = None,
    notes: Sequence[str] = (),
    require_approved: bool = False,
    registry: PathName = REGISTRY,
    format: str | None = None,
) -> Release:
    """Freeze a golden file as a version that can no longer change. The version follows from what
    changed since the last release of a dataset of this name; a lower one is refused."""
    file, root = writable_path(path), Path(registry)
    dataset = load(file, format=format)
    _refuse_useless(dataset)
    with registry_lock(root):
        shelf = Registry(root).releases_of(dataset.name)
        since = _since(shelf, dataset)
        if require_approved:
            _refuse_drafts(dataset, since)
        record = Release(
            schema=_SCHEMA,
            name=dataset.name,
            version=_version(since, dataset, bump, version),
            bump=since.diff.bump if since else None,
            digest="",
            format=format or format_name(dataset) or "",
            file=file.name,
            files={},
            cases=count_cases(since.diff if since else None, dataset),
            released_at=timestamp(date),
            released_by=by or git.user_name(file.parent) or getpass.getuser(),
            commit=git.current_commit(file.parent),
            made_for=tuple(made_for),
            previous=_previous(since),
            seal="",
        )
        log = _log(since, dataset, record, notes)
        record = _freeze(root, shelf.folder / record.version, record, file, dataset, log)
        shelf.set_newest(record)
    return record


def _freeze(
    root: Path, folder: Path, record: Release, file: Path, dataset: Dataset, log: str
) -> Release:
    """Make the release appear, completely or not at all."""
    if folder.exists():
        raise already_released(folder)
    parts = _stamped(file, dataset, record.version)
    disable_line_end_conversion(root)
    with stage_release(root, folder) as stage:
        files = {**parts, CHANGELOG: log.encode()}
        for name, data in files.items():
            stage.write(name, data)
        frozen = load(stage.path / file.name, format=record.format)
        if dataset_digest(frozen) != dataset_digest(dataset):
            raise RefusedError("was edited while it was being released", where=str(file))
        digests = {name: file_digest(data) for name, data in files.items()}
        record = msgspec.structs.replace(record, digest=dataset_digest(frozen), files=digests)
        record = seal_release(record)
        stage.write(RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        _publish(stage, file, parts)
    return record


def _since(shelf: DatasetReleases, dataset: Dataset) -> _Since | None:
    problem = next(iter(verify([shelf])), None)
    if problem:
        raise RefusedError(
            f"the releases before are not intact: {problem.where} {problem.message}",
            hint="`carob versions --verify` names all that is wrong",
        )
    releases = shelf.releases()
    if not releases:
        return None
    found = with_losses(diff_datasets(load_release(releases[-1]), dataset))
    return _Since(releases[-1], found)


def _version(since: _Since | None, dataset: Dataset, bump: Bump | None, version: str | None) -> str:
    if since is None:
        return first_version(dataset.version, version=version)
    last = since.last.record.version
    return next_version(last, since.diff, stated=dataset.version, bump=bump, version=version)


def _previous(since: _Since | None) -> PreviousRelease | None:
    last = since.last.record if since else None
    return PreviousRelease(version=last.version, seal=last.seal) if last else None


def _refuse_useless(dataset: Dataset) -> None:
    """What no run can be made with must not be frozen."""
    if not dataset.cases:
        raise RefusedError(f"{dataset.name} has no cases to release")
    check_unique_ids(dataset)


def _refuse_drafts(dataset: Dataset, since: _Since | None) -> None:
    found = list(unapproved(dataset, since.diff if since else None))
    if found:
        more = [f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise RefusedError(
            f"{len(found)} of {len(dataset.cases)} cases are not approved: "
            + ", ".join([*found[:_SHOWN], *more]),
            hint="`carob review FILE CASE… --as approved --by NAME` approves them",
        )


def _log(since: _Since | None, dataset: Dataset, record: Release, notes: Sequence[str]) -> str:
    changes = changelog.later(since.diff, dataset) if since else changelog.first(dataset)
    bullets = [*notes, *changes, *(f"For {one}" for one in record.made_for)]
    entry = changelog.entry(record.version, record.released_at[:10], bullets)
    before = (since.last.folder / CHANGELOG).read_text("utf-8") if since else None
    return changelog.grown(dataset.name, entry, before)


def _stamped(file: Path, dataset: Dataset, version: str) -> dict[str, bytes]:
    """The files of the release, by name: with the version in them where they have a place."""
    if file.name in (RECORD, CHANGELOG):
        raise UsageError(f"a golden file cannot be called {file.name!r}", hint="rename it")
    parts = _with_aside(file)
    if dataset.version == version:
        return parts
    stamped = msgspec.structs.replace(dataset, version=version)
    if _has_place(file, stamped):
        edited = set_version(parts[file.name], version)
        return {**parts, file.name: edited} if edited else _written_anew(file, stamped)
    # A version that the file carries along, under `carob` or beside it.
    return _written_anew(file, stamped) if dataset.version else parts


def _has_place(file: Path, dataset: Dataset) -> bool:
    """Has the format a place for the version?"""
    form = get_format(format_name(dataset) or "", plugins.formats())
    if not form.writable:
        return False
    made = writing.prepare_dataset(
        dataset.with_cases(()), writing.choose_destination(file, form), plugins.formats()
    )
    return "version" not in made.header.lost


def _written_anew(file: Path, dataset: Dataset) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        save(dataset, copy, format=format_name(dataset))
        return _with_aside(copy)


def _with_aside(file: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in (file, sidecar_path(file)) if one.is_file()}


def _publish(stage: StagedRelease, file: Path, parts: dict[str, bytes]) -> None:
    """The file states its version before the release exists: killed in between, the same release
    can be made again, while a file behind its release would look like another version."""
    before = {name: (file.parent / name).read_bytes() for name in parts}
    changed = [name for name in parts if parts[name] != before[name]]
    try:
        for name in changed:
            write_atomic(file.parent / name, parts[name])
        stage.publish()
    except BaseException:
        for name in () if stage.is_published else changed:
            write_atomic(file.parent / name, before[name])
        raise
