"""Release golden data as a version that can no longer change."""

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
from carob.datasets.sidecar import has_sidecar, sidecar_path
from carob.errors import RefusedError, UsageError
from carob.files.atomic import write_atomic
from carob.schema import Bump, Dataset, Diff, PreviousRelease, Release
from carob.schema.digest import dataset_digest
from carob.versions import changelog, git
from carob.versions.diff import with_losses
from carob.versions.numbers import count_cases, first_version, next_version
from carob.versions.publish import (
    StagedRelease,
    already_released,
    disable_line_end_conversion,
    registry_lock,
    stage_release,
)
from carob.versions.registry import (
    CHANGELOG,
    RECORD,
    DatasetReleases,
    Registry,
    StoredRelease,
    file_digest,
    seal_release,
)
from carob.versions.review import list_unapproved
from carob.versions.verify import verify
from carob.versions.version_field import set_version

_SCHEMA = "carob.release/1"
_SHOWN = 20


class _LastRelease(NamedTuple):
    """The last release, and the changes since."""

    release: StoredRelease
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
    """Release a golden file as an immutable version. The version follows from the changes since the
    last release of the dataset; a lower one is refused."""
    file, root = writable_path(path), Path(registry)
    dataset = load(file, format=format)
    _check_usable(dataset)
    with registry_lock(root):
        releases = Registry(root).releases_of(dataset.name)
        last = _find_last(releases, dataset)
        if require_approved:
            _check_approved(dataset, last)
        record = Release(
            schema=_SCHEMA,
            name=dataset.name,
            version=_version(last, dataset, bump, version),
            bump=last.diff.bump if last else None,
            digest="",
            format=format or format_name(dataset) or "",
            file=file.name,
            files={},
            cases=count_cases(last.diff if last else None, dataset),
            released_at=timestamp(date),
            released_by=by or git.user_name(file.parent) or getpass.getuser(),
            commit=git.current_commit(file.parent),
            made_for=tuple(made_for),
            previous=_previous(last),
            seal="",
        )
        log = _changelog(last, dataset, record, notes)
        record = _freeze(root, releases.folder / record.version, record, file, dataset, log)
        releases.set_newest(record)
    return record


def _freeze(
    root: Path, folder: Path, record: Release, file: Path, dataset: Dataset, log: str
) -> Release:
    """Write the release atomically."""
    if folder.exists():
        raise already_released(folder)
    parts = _with_version(file, dataset, record.version)
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


def _find_last(releases: DatasetReleases, dataset: Dataset) -> _LastRelease | None:
    problem = next(iter(verify([releases])), None)
    if problem:
        raise RefusedError(
            f"an earlier release was changed: {problem.where} {problem.message}",
            hint="`carob versions --verify` lists all problems",
        )
    stored = releases.releases()
    if not stored:
        return None
    diff = with_losses(diff_datasets(load_release(stored[-1]), dataset))
    return _LastRelease(stored[-1], diff)


def _version(
    last: _LastRelease | None, dataset: Dataset, bump: Bump | None, version: str | None
) -> str:
    if last is None:
        return first_version(dataset.version, version=version)
    before = last.release.record.version
    return next_version(before, last.diff, stated=dataset.version, bump=bump, version=version)


def _previous(last: _LastRelease | None) -> PreviousRelease | None:
    record = last.release.record if last else None
    return PreviousRelease(version=record.version, seal=record.seal) if record else None


def _check_usable(dataset: Dataset) -> None:
    """Refuse golden data that no run can be made with."""
    if not dataset.cases:
        raise RefusedError(f"{dataset.name} has no cases to release")
    check_unique_ids(dataset)


def _check_approved(dataset: Dataset, last: _LastRelease | None) -> None:
    drafts = list(list_unapproved(dataset, last.diff if last else None))
    if drafts:
        more = [f"and {len(drafts) - _SHOWN} more"] if len(drafts) > _SHOWN else []
        raise RefusedError(
            f"{len(drafts)} of {len(dataset.cases)} cases are not approved: "
            + ", ".join([*drafts[:_SHOWN], *more]),
            hint="`carob review FILE CASE… --as approved --by NAME` approves them",
        )


def _changelog(
    last: _LastRelease | None, dataset: Dataset, record: Release, notes: Sequence[str]
) -> str:
    changes = (
        changelog.change_bullets(last.diff, dataset) if last else changelog.initial_bullets(dataset)
    )
    bullets = [*notes, *changes, *(f"For {system}" for system in record.made_for)]
    entry = changelog.format_entry(record.version, record.released_at[:10], bullets)
    before = (last.release.folder / CHANGELOG).read_text("utf-8") if last else None
    return changelog.prepend_entry(dataset.name, entry, before)


def _with_version(file: Path, dataset: Dataset, version: str) -> dict[str, bytes]:
    """Return the files of the release by name, with the version in them if the format has one."""
    if file.name in (RECORD, CHANGELOG):
        raise UsageError(f"{file.name!r} is reserved in a release", hint="rename the file")
    parts = _with_sidecar(file)
    if dataset.version == version:
        return parts
    versioned = msgspec.structs.replace(dataset, version=version)
    if _stores_version(file, versioned):
        edited = set_version(parts[file.name], version)
        return {**parts, file.name: edited} if edited else _rewrite(file, versioned)
    # Else only a version that was preserved, under `carob` or in the sidecar file, is updated.
    return _rewrite(file, versioned) if dataset.version else parts


def _stores_version(file: Path, dataset: Dataset) -> bool:
    """Return whether the format stores the version of a dataset."""
    form = get_format(format_name(dataset) or "", plugins.formats())
    if not form.writable:
        return False
    prepared = writing.prepare_dataset(
        dataset.with_cases(()), writing.choose_destination(file, form), plugins.formats()
    )
    return "version" not in prepared.header.lost


def _rewrite(file: Path, dataset: Dataset) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        save(dataset, copy, format=format_name(dataset))
        return _with_sidecar(copy)


def _with_sidecar(file: Path) -> dict[str, bytes]:
    parts = (file, sidecar_path(file)) if has_sidecar(file) else (file,)
    return {part.name: part.read_bytes() for part in parts}


def _publish(stage: StagedRelease, file: Path, parts: dict[str, bytes]) -> None:
    """Write the version into the file, then publish: if the process is killed in between, the
    same release can be made again. A file that lags behind its release would look like another
    version."""
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
