from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carob.errors import OutputError
from carob.files.atomic import write_atomic


def test_file_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_text("old")
    file.chmod(0o640)
    write_atomic(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [*tmp_path.iterdir()] == [file]


def test_link_stays_a_link_and_its_target_is_replaced(tmp_path: Path):
    file, link = tmp_path / "a.json", tmp_path / "link.json"
    file.write_text("old")
    link.symlink_to(file.name)
    write_atomic(link, b"new")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"new")


def test_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomic(pipe, b"new")
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"new", True)
    os.close(reader)


def test_process_that_writes_to_its_own_output_continues_after_it(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("before\n")
    code = "from pathlib import Path; from carob.files.atomic import write_atomic; import sys;"
    code += "write_atomic(Path(sys.argv[1]), b'new\\n'); print('after')"
    with log.open("ab") as out:
        subprocess.run([sys.executable, "-c", code, str(log)], stdout=out, check=True)
    assert log.read_text() == "before\nnew\nafter\n"


def test_missing_directory_is_named(tmp_path: Path):
    with pytest.raises(OutputError) as caught:
        write_atomic(tmp_path / "missing" / "a.json", b"new")
    assert caught.value.hint == f"the directory {tmp_path}/missing does not exist"


def test_dash_is_not_a_file_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="'-' is not a file name"):
        write_atomic(Path("-"), b"new")
    assert not [*tmp_path.iterdir()]


def test_name_may_be_as_long_as_the_system_allows(tmp_path: Path):
    file = tmp_path / ("n" * 255)
    write_atomic(file, b"new")
    assert file.read_bytes() == b"new"
    with pytest.raises(OutputError, match="File name too long"):
        write_atomic(tmp_path / ("n" * 256), b"new")


def test_link_to_itself_is_an_error_and_stays(tmp_path: Path):
    link = tmp_path / "loop"
    link.symlink_to("loop")
    with pytest.raises(OutputError, match="Too many levels of symbolic links"):
        write_atomic(link, b"new")
    assert link.is_symlink()
