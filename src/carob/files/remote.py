"""Files in object storage, such as `s3://bucket/traces/*.jsonl`, read through fsspec (extra `s3`).

Endpoints and credentials come from the environment, as the library of each storage reads them. Only
addresses that the user passed, or named in a config that the user trusts, come here: one in golden
data, in traces or in a request to a server is text like any other.

Readers need files that they can read again from any place, so a file is copied to a temporary
folder first, or only the range of it that is read.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from hashlib import file_digest
from importlib import import_module
from itertools import count
from pathlib import Path
from threading import Lock
from typing import IO, Any, NamedTuple, TypeAlias, cast

from carob.errors import InputError, UsageError, install_hint
from carob.files.scratch import make_scratch_folder, remove_folder

if sys.platform == "win32":
    from pathlib import WindowsPath as _LocalPath
else:
    from pathlib import PosixPath as _LocalPath

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the copied and the total number of bytes."""
_PATTERN = re.compile(r"[*?\[]")
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
}
"""The package that reads each kind of storage. fsspec knows more schemes, some of which read local
files or run commands: what begins with another scheme is not an address here."""
_ADDRESS = re.compile(f"({'|'.join(_PACKAGES)})://.")
_BLOCK = 16 << 20
_HEAD = 1 << 17
_CONCURRENT = 8
"""Files that are copied at the same time: most of the time is spent waiting."""
_MAX_NAME = 60
_UNSAFE = re.compile(r'[\x00-\x1f<>:"/\\|?*]')
_CREDENTIALS = "credentials and endpoint come from the environment, such as AWS_PROFILE or"
_HINT = f"{_CREDENTIALS} AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL"


class RemoteFile(NamedTuple):
    """A file in object storage, as it was when it was listed."""

    address: str
    size: int
    version: str
    """Differs between two contents of the same address: a tag of the storage, or the digest of a
    copy."""


class CopiedFile(_LocalPath):
    """A local copy of a file. It is opened like any path, and its text is the address, so that
    messages and traces name the original. Paths that are derived from it are ordinary ones."""

    remote: RemoteFile | None = None

    def __str__(self) -> str:
        return super().__str__() if self.remote is None else self.remote.address

    def __fspath__(self) -> str:
        return super().__str__()


def is_address(name: object) -> bool:
    """Whether a name is the address of a file in object storage."""
    return isinstance(name, str) and _ADDRESS.match(name) is not None


def list_files(address: str) -> list[RemoteFile]:
    """The files that an address names, sorted: one, those that match a pattern, or the visible
    files of a folder, else those below it. Raises `InputError` if there are none."""
    storage, path = _open_storage(address)
    with _reported(address):
        entries = _find(storage, path)
    if not entries:
        what = "no file matches" if _PATTERN.search(path) else "no such file"
        raise InputError(what, where=address)
    scheme = address.partition("://")[0]
    return [_describe(scheme, name, entries[name]) for name in sorted(entries)]


def fetch_files(address: str, progress: Progress | None = None) -> list[Path]:
    """Copy all files that an address names. `progress` receives the bytes that were copied."""
    return copy_files(list_files(address), progress)


def fetch_file(address: str, progress: Progress | None = None) -> Path:
    """Copy the only file that an address names. `progress` receives the bytes that were copied."""
    files = list_files(address)
    if len(files) > 1:
        raise UsageError(f"found {len(files)} files, expected one", where=address)
    return copy_files(files, progress)[0]


def copy_files(files: Sequence[RemoteFile], progress: Progress | None = None) -> list[Path]:
    """Copy whole files, several at a time. The copies exist until this process ends."""
    from concurrent.futures import ThreadPoolExecutor  # late: few runs read object storage

    done, total, lock = 0, sum(file.size for file in files), Lock()

    def add(number: int) -> None:
        nonlocal done
        with lock:
            done += number
            if progress is not None:
                progress(done, total)

    with ThreadPoolExecutor(min(_CONCURRENT, len(files)) or 1) as pool:
        return [*pool.map(partial(_copy_file, copied=add), files)]


def show_as(copy: Path, address: str) -> Path:
    """Return a copy under the address of its original."""
    return _name_copy(copy, RemoteFile(address, copy.stat().st_size, ""))


def copy_range(
    address: str,
    start: int,
    end: int | None,
    copy: Path,
    copied: Callable[[int], None] | None = None,
) -> None:
    """Copy the bytes of a range to the same offsets of a local file, which has a hole before it: a
    part of a file can then be read as if all of it were there. `copied` receives the size of
    each block."""
    storage, path = _open_storage(address)
    with _reported(address):
        stop = int(storage.info(path)["size"]) if end is None else end
        with copy.open("r+b" if copy.exists() else "wb") as file:
            file.seek(start)
            for position in range(start, stop, _BLOCK):
                block = storage.cat_file(path, start=position, end=min(position + _BLOCK, stop))
                file.write(block)
                if copied is not None:
                    copied(len(block))
            if file.tell() != max(start, stop):
                raise InputError("changed while it was read", where=address)


@contextmanager
def local_head(address: str) -> Generator[Path]:
    """The first bytes of a file, as a file of the same name, until the block ends."""
    copy = _next_copy(address)
    try:
        with open_range(address) as file:
            copy.write_bytes(file.read(_HEAD))
        yield _name_copy(copy, RemoteFile(address, copy.stat().st_size, ""))
    finally:
        remove_folder(copy.parent)


@contextmanager
def open_range(address: str) -> Generator[IO[bytes]]:
    """Open a file for reading small parts of it."""
    storage, path = _open_storage(address)
    with _reported(address), storage.open(path, "rb", block_size=1 << 18) as file:
        yield cast("IO[bytes]", file)


def _copy_file(file: RemoteFile, copied: Callable[[int], None]) -> Path:
    copy = _next_copy(file.address)
    copy_range(file.address, 0, file.size, copy, copied)
    storage, path = _open_storage(file.address)
    with _reported(file.address):
        info = storage.info(path)
    if _describe("", "", info)[1:] != file[1:]:  # blocks of two versions would be a third one
        raise InputError("changed while it was read", where=file.address)
    if not file.version:
        with copy.open("rb") as content:
            file = file._replace(version=file_digest(content, "sha256").hexdigest())
    return _name_copy(copy, file)


def _name_copy(copy: Path, file: RemoteFile) -> CopiedFile:
    path = CopiedFile(copy)
    path.remote = file
    return path


def _find(storage: Any, path: str) -> Mapping[str, Mapping[str, Any]]:
    """The details of files by name."""
    if _PATTERN.search(path):
        found: dict[str, Any] = storage.glob(path, detail=True)
        return {name: info for name, info in found.items() if info["type"] == "file"}
    try:
        info = storage.info(path)
    except FileNotFoundError:
        return {}
    if info["type"] == "file":
        return {info["name"]: info}
    for depth in (1, None):
        found = storage.find(path, maxdepth=depth, detail=True)
        files = {name: info for name, info in found.items() if _is_visible(name, info)}
        if files:
            return files
    return {}


def _is_visible(name: str, info: Mapping[str, Any]) -> bool:
    # Some tools create an empty object for each folder, whose name ends with a slash.
    return info["type"] == "file" and not name.endswith("/") and _base_name(name)[:1] != "."


def _describe(scheme: str, name: str, info: Mapping[str, Any]) -> RemoteFile:
    tags = (str(info[key]) for key in ("ETag", "etag", "md5Hash") if info.get(key))
    # s3fs quotes the tag of a file in one listing, and not in another.
    return RemoteFile(f"{scheme}://{name}", int(info["size"]), next(tags, "").strip('"'))


def _open_storage(address: str) -> tuple[Any, str]:
    scheme, _, path = address.partition("://")
    if "::" in address:  # fsspec would open the part after it, whatever it is
        raise UsageError("'::' is not allowed in an address", where=address)
    return _storage(scheme, _PACKAGES[scheme]), path


@cache
def _storage(scheme: str, package: str) -> Any:
    try:
        fsspec = import_module("fsspec")  # late: an optional package
        import_module(package)
    except ImportError as error:
        hint = install_hint("s3") if package == "s3fs" else f"pip install {package}"
        raise UsageError(f"reading {scheme}:// requires {package}", hint=hint) from error
    # Listings are not cached: a process that lives long would not see new files.
    return fsspec.filesystem(scheme, use_listings_cache=False)


@contextmanager
def _reported(address: str) -> Generator[None]:
    """Report errors of storage libraries, which have no common class."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except FileNotFoundError as error:
        raise InputError("no such file", where=address) from error
    except Exception as error:
        text = str(error).strip().splitlines()
        message = f"cannot be read: {text[0] if text else type(error).__name__}"
        raise InputError(message, where=address, hint=_HINT) from error


_NUMBERS = count(1)


@cache
def _folder(process: int) -> Path:  # noqa: ARG001 - a forked process has a folder of its own
    folder = make_scratch_folder()
    atexit.register(remove_folder, folder)
    return folder


def _next_copy(address: str) -> Path:
    folder = _folder(os.getpid()) / str(next(_NUMBERS))
    folder.mkdir()
    return folder / copy_name(address)


def copy_name(address: str) -> str:
    """A name for a copy, with the suffix of the original, which readers look at."""
    # Names in object storage are any text, and may be longer than a file system allows.
    name = _UNSAFE.sub("_", _base_name(address))[-_MAX_NAME:]
    return name if name.strip(".") else "file"


def _base_name(name: str) -> str:
    return name.rstrip("/").rpartition("/")[2]
