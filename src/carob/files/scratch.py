"""Temporary files and folders that do not outlive their process for long, even if it is killed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

_NAME = re.compile(r"\.?carob-([0-9a-f]{8})-(\d+)-(\d+)-\w+(\.tmp)?")


def make_scratch_folder() -> Path:
    """Create a temporary folder. Its name states the process that owns it; folders of processes
    that have ended are removed."""
    import tempfile  # late: importing it takes longer than a small run

    _collect_garbage(Path(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix=_prefix()))


class ScratchFolder:
    """A temporary folder that is created when its first file is: most inputs need none."""

    def __init__(self) -> None:
        self._path: Path | None = None

    @property
    def path(self) -> Path:
        """The folder, which exists from now on."""
        if self._path is None:
            self._path = make_scratch_folder()
        return self._path

    def remove(self) -> None:
        """Remove the folder with all its files."""
        if self._path is not None:
            remove_folder(self._path)


def remove_folder(path: Path) -> None:
    """Remove a folder with all its files, as far as possible."""
    import shutil  # late: it loads compressors

    shutil.rmtree(path, ignore_errors=True)


def make_scratch_file(folder: Path) -> tuple[int, Path]:
    """Create a hidden temporary file in a folder, and return its descriptor and path. Files of
    processes that have ended are removed."""
    import tempfile  # late: see above

    _collect_garbage(folder)
    # Without the name of the final file, which may be as long as the system allows.
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{_prefix()}", suffix=".tmp")
    return handle, Path(name)


def _prefix() -> str:
    pid = os.getpid()
    return f"carob-{_host()}-{pid}-{_start_time(pid) or 0}-"


def abandoned_scratch(parent: Path) -> Iterator[Path]:
    """The temporary files and folders of this user whose process was on this machine and has
    ended."""
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match and match[1] == _host() and not _is_running(int(match[2]), int(match[3])):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if not entry.is_symlink() and status.st_uid == os.getuid():
                        yield Path(entry.path)


@cache
def _collect_garbage(parent: Path) -> None:
    """Once per process and folder."""
    if os.name == "posix":
        for path in abandoned_scratch(parent):
            if path.is_dir():
                remove_folder(path)
            else:
                with suppress(OSError):
                    path.unlink()


@cache
def _host() -> str:
    """Identifies the machine or container: process ids mean nothing in another one, which may
    share the folder."""
    namespace = ""
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    name = os.uname().nodename if os.name == "posix" else ""
    return blake2b(f"{name} {namespace}".encode(), digest_size=4).hexdigest()


def _is_running(pid: int, started: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # of another user
        pass
    now = _start_time(pid)
    return now is None or not started or now == started  # else the id was given to a new process


def _start_time(pid: int) -> int | None:
    """When a process started, in clock ticks since the machine did; `None` where unknown."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The second field is the name of the program, in parentheses, which may contain spaces.
    return int(fields.rpartition(b")")[2].split()[19])
