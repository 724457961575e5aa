from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from carob.datasets.formats import Format
from carob.datasets.read import read_dataset
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset
from carob.errors import OutputError
from carob.schema import Case, Dataset

SLOW = """
import os, sys, time
from pathlib import Path
from carob import plugins
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset
from carob.schema import Case, Dataset
forms = plugins.formats()
form = next(form for form in forms if form.name == "examples")
dataset = Dataset(name="new", cases=[Case.of("a", "b")])
destination = choose_destination(Path(sys.argv[1]), form)
prepared = prepare_dataset(dataset, destination, forms)
def wait(_): print("writing", flush=True); time.sleep(60)
os.fsync = wait
write_dataset(prepared)
"""


def save(dataset: Dataset, path: Path, name: str, formats: list[Format]) -> None:
    form = next(form for form in formats if form.name == name)
    write_dataset(prepare_dataset(dataset, choose_destination(path, form), formats))


def test_kill_in_the_middle_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with subprocess.Popen(
        [sys.executable, "-c", SLOW, str(path)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == b"writing\n"
        process.send_signal(signal.SIGKILL)
    assert path.read_text() == "old"


def test_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, formats: list[Format], monkeypatch: pytest.MonkeyPatch
):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.json"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="No space left on device"):
        save(Dataset(name="x", cases=[Case.of("a", "b")]), path, "examples", formats)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_missing_folder_is_an_output_error(tmp_path: Path, formats: list[Format]):
    with pytest.raises(OutputError, match="cannot be written"):
        save(Dataset(name="x", cases=[Case.of("a", "b")]), tmp_path / "no/a.json", "adk", formats)


def test_half_a_surrogate_pair_cannot_be_written(tmp_path: Path, formats: list[Format]):
    with pytest.raises(OutputError):
        save(Dataset(name="x", cases=[Case.of("\ud800", "b")]), tmp_path / "a", "adk", formats)
    assert not list(tmp_path.iterdir())


def test_cells_of_a_table_round_trip(tmp_path: Path, formats: list[Format]):
    texts = ["plain", 'say "no"', "a,b", "two\nlines", "old\rline", " blank ", "crlf\r\n"]
    cases = [Case.of(text, f"{text}!") for text in texts]
    save(Dataset(name="a", cases=cases), tmp_path / "a.csv", "csv", formats)
    assert [case.turns for case in read_dataset(tmp_path / "a.csv", formats).cases] == [
        case.turns for case in cases
    ]
