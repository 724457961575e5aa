from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from carob.errors import OutputError
from carob.files import lock
from carob.files.lock import lock_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs flock")
_HOLD = """\
import sys, time
from pathlib import Path
from carob.files.lock import lock_folder
with lock_folder(Path(sys.argv[1])):
    print("locked", flush=True)
    time.sleep(60)
"""


def test_thread_may_lock_a_folder_again(tmp_path: Path):
    with lock_folder(tmp_path) as outer, lock_folder(tmp_path / ".") as inner:
        assert (outer, inner) == (True, True)


def test_other_thread_waits(tmp_path: Path):
    order: list[str] = []

    def work() -> None:
        with lock_folder(tmp_path):
            order.append("second")

    thread = threading.Thread(target=work)
    with lock_folder(tmp_path):
        thread.start()
        thread.join(0.1)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_other_process_is_an_error_in_time_and_its_death_ends_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lock, "_TIMEOUT", 0.1)
    command = [sys.executable, "-c", _HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"locked\n"
        with (
            pytest.raises(OutputError, match="another process is writing to this folder"),
            lock_folder(tmp_path),
        ):
            pass
        process.kill()
        process.wait()
    with lock_folder(tmp_path) as is_locked:
        assert is_locked


def test_missing_folder_is_left_to_the_writer(tmp_path: Path):
    with lock_folder(tmp_path / "missing") as is_locked:
        assert not is_locked
