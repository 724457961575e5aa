"""Load golden data from files and releases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from carob import plugins
from carob.datasets.formats import Format, format_of
from carob.datasets.read import open_golden, read_dataset
from carob.datasets.sidecar import SIDECAR_SUFFIX
from carob.errors import (
    CarobError,
    EmptyFileError,
    InputError,
    RefusedError,
    UnknownFormatError,
    UsageError,
)
from carob.files.folders import files_in
from carob.files.remote import fetch_file, is_address
from carob.schema import Dataset, Problem
from carob.schema.field_map import (
    GOLDEN_FIELDS,
    check_field_map,
    format_field_map,
    parse_field_map,
    select_fields,
)
from carob.schema.problem import ProblemListener, ProgressListener, ignore

if TYPE_CHECKING:
    from carob.config import Config
    from carob.versions.registry import StoredRelease

T = TypeVar("T")
PathName = str | PathLike[str]
REGISTRY = Path("golden") / "registry"
"""Default folder of releases."""
_SHOWN_NAMES = 5
_REFERENCE = re.compile(r"[^/\\]+@(latest|[\^~]?v?\d+(\.\d+){0,2})")


def as_list(value: T | Iterable[T]) -> list[T]:
    """Return a list of one or many values. A string is one value, not a list of characters."""
    if isinstance(value, str | PathLike) or not isinstance(value, Iterable):
        return [cast("T", value)]
    return [*cast("Iterable[T]", value)]


def golden_formats(config: Path | None = None) -> Sequence[Format]:
    """Return every golden format, with the mapping of plain rows in the config, by default the
    `carob.toml` of the working directory."""
    mapping = configured_mapping(config)
    if not select_fields(mapping, GOLDEN_FIELDS):
        return plugins.formats()
    from carob.datasets.formats.rows import map_rows  # late: few projects have a mapping

    return map_rows(plugins.formats(), mapping)


def configured_mapping(config: Path | None = None) -> Mapping[str, str]:
    """Return the `[map]` table of a config, by default the `carob.toml` of the working
    directory."""
    path = config or Path("carob.toml")
    if not path.is_file():
        return {}
    mapping = _MAPPINGS.get(_version(path))
    if mapping is None:
        from carob.config import load_config  # late: most folders have no config

        mapping = keep_mapping(path, load_config(path))
    return check_field_map(mapping)


_MAPPINGS: dict[tuple[str, int], Mapping[str, str]] = {}
"""The mapping in each version of a config that was read: a run reads its config once."""


def keep_mapping(path: Path, config: Config) -> Mapping[str, str]:
    """Remember and return the mapping of a config that was read."""
    return _MAPPINGS.setdefault(_version(path), config.mapping)


def _version(path: Path) -> tuple[str, int]:
    return str(path.resolve()), path.stat().st_mtime_ns


def load(
    path: PathName, *, from_: str | None = None, progress: ProgressListener = ignore
) -> Dataset:
    """Load golden data. The format is detected from content unless it is named. A release such as
    `support@1.2.0` is loaded from the registry. `progress` receives the bytes that were read."""
    return _load(path, from_, spooled=False, progress=progress)


def load_streamed(
    path: PathName, *, from_: str | None = None, progress: ProgressListener = ignore
) -> Dataset:
    """Load golden data of which the cases of a large file stay on disk. `progress` receives the
    bytes that were read."""
    return _load(path, from_, spooled=True, progress=progress)


def _load(
    path: PathName,
    form: str | None,
    *,
    spooled: bool,
    progress: ProgressListener = ignore,
    config: Path | None = None,
) -> Dataset:
    path = golden_path(path, progress)
    check_one_dataset(path)
    release = find_release(path)
    if release:
        return load_release(release, spooled=spooled)
    formats = golden_formats(config)
    file = path if isinstance(path, Path) else Path(path)
    return read_dataset(file, formats, form, spooled=spooled, progress=progress)


def golden_path(name: PathName, progress: ProgressListener = ignore) -> PathName:
    """Return the path of golden data, or the name of a release. A file in object storage is
    copied, and `progress` receives the bytes of it."""
    return fetch_file(str(name), progress) if is_address(name) else name


def dataset_files(
    paths: PathName | Iterable[PathName], report: ProblemListener = ignore
) -> list[Path]:
    """Return the files, with the golden files of a folder in its place. Its other files are
    reported: a folder of golden data often has a config beside them."""
    files: list[Path] = []
    for path in map(Path, as_list(paths)):
        files.extend(_golden_files(path, report) if path.is_dir() else [path])
    return files


def file_listeners(files: Sequence[Path], progress: ProgressListener) -> Iterator[ProgressListener]:
    """Return a listener for each file, whose bytes are counted as a part of all files."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    for index in range(len(files)):
        before = sum(sizes[:index])
        yield ignore if progress is ignore else partial(_advance, progress, before, sum(sizes))


def _advance(progress: ProgressListener, before: int, total: int, done: int, _: int) -> None:
    progress(before + done, total)


def _golden_files(folder: Path, report: ProblemListener = ignore) -> list[Path]:
    # Late: nothing else here needs the writer, which knows the suffixes.
    from carob.datasets.write import EXCEL, containers_for, path_suffix

    files: list[Path] = []
    for path in files_in(folder):
        if not containers_for(path) and path_suffix(path) not in EXCEL:
            continue
        try:
            open_golden(path, golden_formats())
        except EmptyFileError:
            pass  # its cases would be missed without a word
        except UnknownFormatError as error:
            if not path.name.endswith(SIDECAR_SUFFIX):
                report(
                    Problem(where=str(path), message=f"skipped: {error.message}", severity="note")
                )
            continue
        except CarobError:
            pass  # golden data or not: whoever reads it says what is wrong
        files.append(path)
    if not files:
        hint = "subfolders are not searched"
        raise InputError("no golden data in this folder", where=str(folder), hint=hint)
    return files


def check_one_dataset(path: PathName) -> None:
    """Raise `UsageError` with the names of its datasets if the path is a folder."""
    if Path(path).is_dir():
        names = [str(file) for file in _golden_files(Path(path))]
        message = f"found a folder with {len(names)} datasets, expected a file"
        hint = (
            f"pass one of: {', '.join(names[:_SHOWN_NAMES])}{', …' * (len(names) > _SHOWN_NAMES)}"
        )
        raise UsageError(message, where=str(path), hint=hint)


def load_golden(
    golden: PathName | Dataset, *, config: Path | None = None, mapping: str | None = None
) -> Dataset:
    """Return golden data to score against, from a file, with the mapping of a config for plain
    rows or one of its own, or from memory. The cases of a large file stay on disk."""
    is_loaded = isinstance(golden, Dataset)
    named = select_fields(parse_field_map(mapping), GOLDEN_FIELDS) if mapping else {}
    form = f"rows:{format_field_map(named)}" if named else None
    dataset = golden if is_loaded else _load(golden, form, spooled=True, config=config)
    check_unique_ids(dataset)
    return dataset


def check_unique_ids(dataset: Dataset) -> None:
    """Raise `UsageError` for duplicate case ids: results refer to cases by id. Rows that carry a
    trace may repeat an id, because each is one attempt at the case."""
    seen: set[str] = set()
    for case in dataset.cases:
        if case.id in seen and not case.recorded:
            hint = "ids must be unique; `carob validate` lists the duplicates"
            raise UsageError(f"duplicate case id {case.id!r} in {dataset.name}", hint=hint)
        seen.add(case.id)


def is_reference(source: PathName) -> bool:
    """Return whether the source is a release such as `support@^1`. An existing path wins."""
    return bool(_REFERENCE.fullmatch(str(source))) and not Path(source).exists()


def find_release(source: PathName, registry: Path = REGISTRY) -> StoredRelease | None:
    """Return the release that a reference names, or `None` for a path."""
    if not is_reference(source):
        return None
    from carob.versions.registry import Registry  # late: slower to import than a file to load

    return check_intact(Registry(registry).find(str(source)))


def load_release(release: StoredRelease, *, spooled: bool = False) -> Dataset:
    """Load a release. It has its version even if the format cannot store one."""
    form = release.record.format
    dataset = read_dataset(release.file, golden_formats(), form, spooled=spooled)
    return msgspec.structs.replace(dataset, version=release.record.version)


def check_intact(release: StoredRelease) -> StoredRelease:
    """Return the release. Raises `RefusedError` if its files were changed since."""
    from carob.versions.verify import check_files  # late: only releases need it

    problem = next(check_files(release), None)
    if problem:
        raise RefusedError(problem.message, where=problem.where, hint=problem.hint)
    return release


def writable_path(source: PathName) -> Path:
    """Return the path of a golden file. Raises `UsageError` for a release, which is immutable."""
    if find_release(source):
        hint = f"`carob checkout {source}` makes a copy that you can edit"
        raise UsageError(f"{source} is a release and cannot be changed", hint=hint)
    return Path(source)


def format_name(source: Dataset) -> str | None:
    """Return the format that a dataset was read from."""
    return format_of(source.origin.format) if source.origin else None
