from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.files.scratch import ScratchFolder, abandoned_scratch, make_scratch_folder

KEEP = "from carob.files.scratch import make_scratch_folder as m; print(m(), flush=True)"


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def run(code: str) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def test_folder_of_a_killed_process_is_removed_at_the_next_start():
    killed = Path(run(f"{KEEP}; import os; os.kill(os.getpid(), 9)"))
    assert killed.is_dir()
    run(KEEP)
    assert not killed.exists()


def test_file_of_a_killed_write_is_removed_by_the_next_one(tmp_path: Path):
    write = "from pathlib import Path; from carob.files.atomic import atomic_writer as w\n"
    write += f"with w(Path({str(tmp_path)!r}) / 'a.json') as file:\n file.write(b'new')\n"
    run(f"{write} import os; os.kill(os.getpid(), 9)")
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    run(write)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_folder_of_a_running_process_stays(tmp_path: Path):
    folder = make_scratch_folder()
    run(KEEP)
    assert folder.is_dir()
    assert folder not in [*abandoned_scratch(tmp_path)]


def test_folder_of_a_process_whose_id_was_reused_is_abandoned(tmp_path: Path):
    folder = make_scratch_folder()
    carob, host, pid, started, rest = folder.name.split("-", 4)
    later = "-".join([carob, host, pid, str(int(started) - 1), rest])
    assert int(pid) == os.getpid()
    assert [*abandoned_scratch(tmp_path)] == []
    assert [*abandoned_scratch(folder.rename(tmp_path / later).parent)] == [tmp_path / later]


def test_folders_of_other_machines_and_links_stay(tmp_path: Path):
    _, host, _ = make_scratch_folder().name.split("-", 2)
    (tmp_path / "carob-00000000-4194305-1-abc").mkdir()
    (tmp_path / f"carob-{host}-4194305-1-abc").symlink_to(tmp_path)
    assert [*abandoned_scratch(tmp_path)] == []


def test_run_leaves_no_folder_behind(tmp_path: Path):
    traces = tmp_path / "chats.jsonl"
    chat = (
        '{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "%s"}]}'
    )
    traces.write_text("\n".join(chat % ("long " * number) for number in range(1, 600)))
    for keep_traces in (False, True):
        store = str(tmp_path / "runs.db")
        request = RunRequest(traces=[traces], metrics=["latency"], store=store, config=NO_CONFIG)
        evaluate(msgspec.structs.replace(request, keep_traces=keep_traces))
        assert [path for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_scratch_folder_is_created_when_it_is_needed_and_removed(tmp_path: Path):
    folder = ScratchFolder()
    folder.remove()
    assert not list(tmp_path.iterdir())
    (folder.path / "file").touch()
    assert list(tmp_path.iterdir()) == [folder.path]
    folder.remove()
    assert not list(tmp_path.iterdir())
