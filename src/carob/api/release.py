"""Release golden data as a version that can no longer change."""

from __future__ import annotations

import getpass
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from carob.api.clock import timestamp
from carob.api.golden import release_checks as checks
from carob.api.golden.in_place import encode_files, file_parts
from carob.api.load import (
    REGISTRY,
    PathName,
    as_list,
    format_name,
    golden_formats,
    load_release,
    load_streamed,
    writable_path,
)
from carob.api.versions import diff_datasets
from carob.datasets import write as writing
from carob.datasets.read import get_format
from carob.errors import RefusedError, UsageError
from carob.files.atomic import Content, FileContent, has_content, write_atomic
from carob.files.lock import lock_folder
from carob.schema import Bump, Dataset, Diff, PreviousRelease, Release
from carob.schema.digest import dataset_digest
from carob.schema.problem import ProgressListener, ignore
from carob.versions import changelog, git
from carob.versions.diff import with_losses
from carob.versions.numbers import (
    count_cases,
    describe_override,
    first_version,
    next_version,
    unneeded_reason_error,
)
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
from carob.versions.verify import verify
from carob.versions.version_field import set_version

_SCHEMA = "carob.release/1"


class _LastRelease(NamedTuple):
    """The last release, and the changes since."""

    release: StoredRelease
    diff: Diff


def release(
    path: PathName,
    *,
    bump: Bump | None = None,
    version: str | None = None,
    for_: str | Iterable[str] = (),
    by: str | None = None,
    date: str | None = None,
    note: str | Iterable[str] = (),
    because: str | None = None,
    require_approved: bool = False,
    lint: bool = True,
    allow_synthetic: bool = False,
    new_dataset: bool = False,
    registry: PathName = REGISTRY,
    from_: str | None = None,
    progress: ProgressListener = ignore,
) -> Release:
    """Release a golden file as an immutable version. The version follows from the changes since the
    last release of the dataset; a lower one is refused, unless a reason is given in `because`.
    Errors of the linter are refused, unless `lint` is false, and synthetic cases that nobody has
    reviewed, unless `allow_synthetic`. The release records all three. `progress` receives the
    bytes that were read."""
    file, root = writable_path(path), Path(registry)
    dataset = load_streamed(file, from_=from_, progress=progress)
    checks.check_usable(dataset)
    synthetic = checks.check_synthetic(dataset, allow=allow_synthetic)
    lint_state = checks.check_lint(file, from_=from_) if lint else "skipped"
    released_at = timestamp(date)
    with registry_lock(root), lock_folder(file.parent):
        opened = Registry(root)
        releases = opened.releases_of(dataset.name)
        last = _find_last(releases, dataset)
        releases.complete_announcement()
        if last:
            checks.check_date(released_at, last.release.record)
        elif not new_dataset:
            checks.check_name(dataset, opened)
        if require_approved:
            checks.check_approved(dataset, last.diff if last else None)
        record = Release(
            schema=_SCHEMA,
            name=dataset.name,
            version=_version(last, dataset, bump, version, because),
            bump=last.diff.bump if last else None,
            because=UNSET if because is None else because,
            digest="",
            format=from_ or format_name(dataset) or "",
            file=file.name,
            files={},
            cases=count_cases(last.diff if last else None, dataset),
            released_at=released_at,
            released_by=by or git.user_name(file.parent) or getpass.getuser(),
            commit=git.current_commit(file.parent),
            made_for=tuple(as_list(for_)),
            lint=lint_state,
            unreviewed_synthetic=synthetic or UNSET,
            previous=_previous(last),
            seal="",
        )
        log = _changelog(last, dataset, record, as_list(note))
        record = _freeze(releases, record, file, dataset, log)
        releases.set_newest(record)
    return record


def _freeze(
    releases: DatasetReleases, record: Release, file: Path, dataset: Dataset, log: str
) -> Release:
    """Write the release atomically."""
    folder, root = releases.folder / record.version, releases.folder.parent
    if folder.exists():
        raise already_released(folder)
    parts = _with_version(file, dataset, record.version)
    disable_line_end_conversion(root)
    with stage_release(root, folder) as stage:
        files: dict[str, Content] = {**parts, CHANGELOG: log.encode()}
        for name, data in files.items():
            stage.write(name, data)
        frozen = load_streamed(stage.path / file.name, from_=record.format)
        if dataset_digest(frozen) != dataset_digest(dataset):
            raise RefusedError("was edited while it was being released", where=str(file))
        digests = {name: file_digest(data) for name, data in files.items()}
        record = msgspec.structs.replace(record, digest=dataset_digest(frozen), files=digests)
        record = seal_release(record)
        stage.write(RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
        releases.announce(record)
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
    diff = with_losses(diff_datasets(load_release(stored[-1], spooled=True), dataset))
    return _LastRelease(stored[-1], diff)


def _version(
    last: _LastRelease | None,
    dataset: Dataset,
    bump: Bump | None,
    version: str | None,
    because: str | None,
) -> str:
    if because is not None and not because.strip():
        raise UsageError("the reason for the version is empty", hint="say why in --because")
    if last is None:
        if because:
            raise unneeded_reason_error()
        return first_version(dataset.version, version=version)
    return next_version(
        last.release.record.version,
        last.diff,
        stated=dataset.version,
        bump=bump,
        version=version,
        because=because,
    )


def _previous(last: _LastRelease | None) -> PreviousRelease | None:
    record = last.release.record if last else None
    return PreviousRelease(version=record.version, seal=record.seal) if record else None


def _changelog(
    last: _LastRelease | None, dataset: Dataset, record: Release, notes: Sequence[str]
) -> str:
    changes = (
        changelog.change_bullets(last.diff, dataset) if last else changelog.initial_bullets(dataset)
    )
    bullets = [*notes, *changes, *(f"For {system}" for system in record.made_for)]
    if last and record.because is not UNSET:
        before = last.release.record.version
        bullets.append(describe_override(before, record.version, last.diff, record.because))
    if record.lint == "skipped":
        bullets.append("Released without linting")
    if record.unreviewed_synthetic is not UNSET:
        bullets.append(f"Unreviewed synthetic cases: {record.unreviewed_synthetic}")
    entry = changelog.format_entry(record.version, record.released_at[:10], bullets)
    earlier = (last.release.folder / CHANGELOG).read_text("utf-8") if last else None
    return changelog.prepend_entry(dataset.name, entry, earlier)


def _with_version(file: Path, dataset: Dataset, version: str) -> Mapping[str, Content]:
    """Return the files of the release by name, with the version in them if the format has one."""
    if file.name in (RECORD, CHANGELOG):
        raise UsageError(f"{file.name!r} is reserved in a release", hint="rename the file")
    parts: dict[str, Content] = {part.name: FileContent(part) for part in file_parts(file)}
    if dataset.version == version:
        return parts
    versioned = msgspec.structs.replace(dataset, version=version)
    if _stores_version(file, versioned):
        edited = set_version(file.read_bytes(), version)
        return {**parts, file.name: edited} if edited else encode_files(versioned, file)
    # Else only a version that was preserved, under `carob` or in the sidecar file, is updated.
    return encode_files(versioned, file) if dataset.version else parts


def _stores_version(file: Path, dataset: Dataset) -> bool:
    """Return whether the format stores the version of a dataset."""
    form = get_format(format_name(dataset) or "", golden_formats())
    if not form.writable:
        return False
    prepared = writing.prepare_dataset(
        dataset.with_cases(()), writing.choose_destination(file, form, dataset), golden_formats()
    )
    return "version" not in prepared.header.lost


def _publish(stage: StagedRelease, file: Path, parts: Mapping[str, Content]) -> None:
    """Write the version into the file, then publish: if the process is killed in between, the
    same release can be made again. A file that lags behind its release would look like another
    version."""
    changed = [name for name in parts if not has_content(file.parent / name, parts[name])]
    before = {name: (file.parent / name).read_bytes() for name in changed}
    try:
        for name in changed:
            write_atomic(file.parent / name, parts[name])
        stage.publish()
    except BaseException:
        for name in () if stage.is_published else changed:
            write_atomic(file.parent / name, before[name])
        raise
