from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from carob.errors import InputError, OutputError
from carob.files.atomic import check_regular, replace


def test_a_file_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path: Path):
    file = tmp_path / "a.json"
    file.write_text("old")
    file.chmod(0o640)
    replace(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o640)
    assert [*tmp_path.iterdir()] == [file]


def test_a_link_stays_a_link_and_what_it_leads_to_is_replaced(tmp_path: Path):
    file, link = tmp_path / "a.json", tmp_path / "link.json"
    file.write_text("old")
    link.symlink_to(file.name)
    replace(link, b"new")
    assert (link.is_symlink(), file.read_bytes()) == (True, b"new")


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    replace(pipe, b"new")
    assert (os.read(reader, 10), pipe.is_fifo()) == (b"new", True)
    os.close(reader)


def test_a_process_that_writes_to_its_own_output_goes_on_with_it(tmp_path: Path):
    log = tmp_path / "log"
    log.write_text("before\n")
    code = "from pathlib import Path; from carob.files.atomic import replace; import sys;"
    code += "replace(Path(sys.argv[1]), b'new\\n'); print('after')"
    with log.open("ab") as out:
        subprocess.run([sys.executable, "-c", code, str(log)], stdout=out, check=True)
    assert log.read_text() == "before\nnew\nafter\n"


def test_a_folder_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(OutputError) as caught:
        replace(tmp_path / "missing" / "a.json", b"new")
    assert caught.value.hint == f"there is no folder {tmp_path}/missing"


def test_a_dash_is_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="'-' is no file"):
        replace(Path("-"), b"new")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("missing.json", "missing.json: no such file", None),
        ("a.json/b", "a.json/b: no such file", None),
        ("-", "-: no such file", "standard input is not read: save it to a file first"),
        ("folder", "folder: a directory, not a file", "name the files in it: folder/*"),
        ("pipe", "pipe: not a regular file", "save it to a file first"),
    ],
)
def test_what_is_no_file_is_refused_with_what_it_is(
    name: str, message: str, hint: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("a.json").touch()
    Path("folder").mkdir()
    os.mkfifo("pipe")
    with pytest.raises(InputError) as caught:
        check_regular(Path(name))
    assert (str(caught.value), caught.value.hint) == (message, hint)
