"""A real PostgreSQL server in a temporary folder, for tests and benchmarks."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from urllib.parse import parse_qs, quote, urlsplit

# No socket but the one in the folder; a test server may lose its data, so it need not wait for it.
_SETTINGS = ("listen_addresses=", "fsync=off", "max_connections=40")


@contextmanager
def server(*, durable: bool = False) -> Generator[str]:
    """The URL of an empty database. The server stops at the end of the block."""
    folder = Path(tempfile.mkdtemp(prefix="carob-pg-"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        data = folder / "data"
        _run("initdb", "-D", data, "-U", "carob", "-A", "trust", "-E", "UTF8", "--no-sync")
        _start(folder, durable=durable)
        try:
            yield f"postgresql://carob@/postgres?host={quote(str(folder), safe='')}"
        finally:
            _run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def kill_server(url: str) -> None:
    """Kill a server as a crash of the machine would."""
    pid = (_server_folder(url) / "data" / "postmaster.pid").read_text().split()[0]
    os.kill(int(pid), signal.SIGKILL)


def restart_server(url: str) -> None:
    """Start a durable server again that was killed."""
    folder = _server_folder(url)
    # Where nobody collects dead processes, as in many containers, the server seems to be alive.
    (folder / "data" / "postmaster.pid").unlink(missing_ok=True)
    for attempts_left in reversed(range(50)):  # the last client has to notice its death first
        try:
            _start(folder, durable=True)
        except RuntimeError:
            if not attempts_left:
                raise
            sleep(0.1)
        else:
            return


def _start(folder: Path, *, durable: bool) -> None:
    settings = [f"unix_socket_directories={folder}", *_SETTINGS]
    options = " ".join(f"-c {one}" for one in settings if not (durable and one == "fsync=off"))
    _run("pg_ctl", "-D", folder / "data", "-w", "-l", folder / "log", "-o", options, "start")


def _server_folder(url: str) -> Path:
    return Path(parse_qs(urlsplit(url).query)["host"][0])


def _run(program: str, *arguments: str | Path) -> None:
    command = [*_unprivileged(), str(_binary(program)), *map(str, arguments)]
    # pg_ctl leaves the server behind with its streams: a pipe would never end.
    with tempfile.TemporaryFile() as output:
        process = subprocess.run(command, stdout=output, stderr=output, check=False, cwd="/")
        if process.returncode:
            output.seek(0)
            raise RuntimeError(f"{program}: {output.read().decode(errors='replace')}")


def _unprivileged() -> Sequence[str]:
    """The server refuses to run as root."""
    if os.getuid() != 0:
        return ()
    owner = pwd.getpwnam("postgres")
    return ("setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups")


def _binary(program: str) -> Path:
    """Debian does not install the server programs on the PATH."""
    binaries = [*sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{program}"))]
    in_path = shutil.which(program)
    if not binaries and not in_path:
        raise RuntimeError(f"{program} is not installed; `make test` installs PostgreSQL on Debian")
    return binaries[-1] if binaries else Path(in_path or program)
