"""The folder of golden files that a server lists and edits. Datasets are named, never paths."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from carob.api.datasets import summarise
from carob.api.load import REGISTRY, golden_formats, load
from carob.datasets.read import get_format
from carob.datasets.sidecar import SIDECAR_SUFFIX, has_sidecar, sidecar_path
from carob.datasets.write import EXCEL, containers_for, path_suffix
from carob.errors import (
    CarobError,
    EmptyFileError,
    NotFoundError,
    RefusedError,
    UnknownFormatError,
    UsageError,
)
from carob.files.atomic import write_atomic
from carob.files.folders import files_in
from carob.files.lock import lock_folder
from carob.schema import DatasetSummary, Problem
from carob.schema.draft import GoldenEntry
from carob.text.spelling import did_you_mean
from carob.versions.publish import registry_lock
from carob.versions.registry import Registry

_NEW_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
SUFFIXES = {"document": ".json", "rows": ".jsonl", "table": ".csv"}
"""Of new files, by container."""


class GoldenFolder(NamedTuple):
    """A folder of golden files, and the registry of their releases."""

    path: Path = REGISTRY.parent
    registry: Path = REGISTRY


def list_datasets(folder: GoldenFolder) -> tuple[GoldenEntry, ...]:
    """List the datasets of a folder by name, and those of which only releases are left."""
    versions = _newest_versions(folder)
    entries = [_entry(file, versions) for file in golden_files(folder)]
    present = {entry.name for entry in entries}
    entries += [
        GoldenEntry(name, None, None, None, version)
        for name, version in versions.items()
        if name not in present
    ]
    return tuple(sorted(entries, key=lambda entry: (entry.name, entry.file or "")))


def golden_files(folder: GoldenFolder) -> Iterator[Path]:
    """Yield the files of a folder that are golden data, also those that are broken."""
    for path in files_in(folder.path) if folder.path.is_dir() else ():
        if _has_golden_name(path) and _is_golden(path):
            yield path


def _has_golden_name(path: Path) -> bool:
    known = containers_for(path) or path_suffix(path) in EXCEL
    return bool(known) and not path.name.endswith(SIDECAR_SUFFIX)


def find_file(folder: GoldenFolder, name: str) -> Path:
    """Return the file of a dataset, by the dataset's name or by the file name without suffixes.
    The name is looked up, never opened."""
    files = list(golden_files(folder))
    matches = [file for file in files if dataset_name(file) == name]
    matches = matches or [file for file in files if _stem(file) == name]
    if len(matches) == 1:
        return matches[0]
    if matches:
        files_named = ", ".join(file.name for file in matches)
        raise RefusedError(f"several files hold a dataset {name!r}: {files_named}")
    known = [dataset_name(file) for file in files]
    hint = did_you_mean(name, known) or f"datasets: {', '.join(known) or 'none'}"
    raise NotFoundError(f"no dataset named {name!r}", hint=hint)


def file_for_cases(folder: GoldenFolder, name: str, format: str | None) -> Path:
    """Return the file of a dataset, or of a new one, which is named after it. The format of a new
    one decides its suffix."""
    try:
        return find_file(folder, name)
    except NotFoundError:
        # `faq.csv.carob` would become the sidecar file of another dataset.
        if not _NEW_NAME.fullmatch(name) or name.endswith(".carob"):
            hint = "letters, digits and . _ -, starting with a letter or digit, at most 100"
            raise UsageError(f"invalid dataset name {name!r:.120}", hint=hint) from None
    container = get_format(format, golden_formats()).containers[0] if format else "document"
    return folder.path / f"{name}{SUFFIXES[container]}"


def add_dataset(folder: GoldenFolder, source: Path, name: str) -> GoldenEntry:
    """Copy a golden file into the folder under a plain file name. Raises `RefusedError` if a file
    or another dataset has the name, and `UsageError` if it is not the name of a golden file: rows
    can be read under any name, and `conftest.py` would be run by pytest."""
    dataset = load(source)
    target = folder.path / Path(name).name
    if not _has_golden_name(target):
        hint = "rename it to end in .json, .jsonl, .yaml, .csv or .xlsx"
        raise UsageError(f"{target.name!r} is not the name of a golden file", hint=hint)
    with registry_lock(folder.registry), lock_folder(folder.path):
        taken = {dataset_name(file): file.name for file in golden_files(folder)}
        if target.exists() or dataset.name in taken:
            owner = taken.get(dataset.name, target.name)
            hint = "edit its cases, or delete it first"
            raise RefusedError(f"{owner} already holds dataset {dataset.name!r}", hint=hint)
        write_atomic(target, source.read_bytes())
    return _entry(target, _newest_versions(folder))


def remove_dataset(folder: GoldenFolder, name: str) -> None:
    """Delete the golden file of a dataset. Its releases stay."""
    with registry_lock(folder.registry), lock_folder(folder.path):
        file = find_file(folder, name)
        sidecar = sidecar_path(file) if has_sidecar(file) else None
        file.unlink()
        if sidecar:
            sidecar.unlink(missing_ok=True)


def copy_files(file: Path, folder: Path) -> Path:
    """Copy a golden file and its sidecar file into a folder, and return the copy."""
    for part in (file, sidecar_path(file)) if has_sidecar(file) else (file,):
        shutil.copyfile(part, folder / part.name)
    return folder / file.name


def _entry(file: Path, versions: dict[str, str]) -> GoldenEntry:
    try:
        summary = _summary(file)
    except CarobError as error:
        where = (error.where or file.name).replace(str(file.absolute()), file.name)
        problem = Problem(where=where, message=error.message, hint=error.hint)
        return GoldenEntry(_stem(file), file.name, None, None, None, (problem,))
    version = versions.get(summary.name)
    return GoldenEntry(summary.name, file.name, summary.format, summary.cases, version)


def _newest_versions(folder: GoldenFolder) -> dict[str, str]:
    """The newest release of each dataset that has one."""
    owners = Registry(folder.registry).owners()
    newest = {name: releases.newest() for name, releases in owners.items()}
    return {name: entry.version for name, entry in newest.items() if entry and entry.version}


def _is_golden(file: Path) -> bool:
    try:
        _summary(file)
    except EmptyFileError:
        return True
    except UnknownFormatError:
        return False
    except CarobError:
        pass  # golden data that is broken is listed with its problem
    return True


def dataset_name(file: Path) -> str:
    """Return the name of the dataset that a file holds."""
    try:
        return _summary(file).name
    except CarobError:
        return _stem(file)


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _summary(file: Path) -> DatasetSummary:
    """Summarise a file, once for each state of it: a page lists every dataset each time."""
    status = file.stat()
    return _summary_at(file.absolute(), status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=512)
def _summary_at(file: Path, _modified: int, _size: int) -> DatasetSummary:
    return summarise(file)
