from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import carob as package
from carob.cli import carob, output
from carob.errors import UsageError

ATTACK = "a,\x1b]0;owned\x07\x1b[31mred\x9b2J\r\nb,é\r\n"
EMIT = f"from carob.cli.output import emit; emit({ATTACK!r}, None)"


def test_pipe_gets_the_bytes_of_a_file(tmp_path: Path):
    output.emit(ATTACK, tmp_path / "out.csv")
    piped = subprocess.run([sys.executable, "-c", EMIT], capture_output=True, check=True).stdout
    assert piped == (tmp_path / "out.csv").read_bytes() == ATTACK.encode()


def test_terminal_shows_control_characters_instead_of_obeying_them():
    reader, terminal = os.openpty()
    subprocess.run([sys.executable, "-c", EMIT], stdout=terminal, check=True)
    os.close(terminal)
    shown = os.read(reader, 4096)
    os.close(reader)
    assert shown == "a,\\x1b]0;owned\\x07\\x1b[31mred\\x9b2J\r\nb,é\r\n".encode()


DATA = Path(package.__file__).parent / "demo" / "data"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("support.examples.json", "golden data (examples)"),
        ("support.csv", "golden data (csv)"),
        ("support.explain.jsonl", "golden data (explain)"),
        ("traces/good.otlp.jsonl", "traces"),
    ],
)
def test_report_does_not_replace_golden_data_or_traces(shop: Path, file: str, content: str):
    before = (shop / file).read_bytes()
    result = CliRunner().invoke(carob, ["metrics", "-o", file])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == f"{file} contains {content}"
    assert (shop / file).read_bytes() == before


def test_report_does_not_replace_an_invalid_input(shop: Path):
    (shop / "draft.json").write_text('{"name": "Draft", "examples": [,]}')
    result = CliRunner().invoke(carob, ["validate", "draft.json", "-o", "./draft.json"])
    assert str(result.exception) == "draft.json is an input of this command"
    assert (shop / "draft.json").stat().st_size


@pytest.mark.parametrize(
    "command",
    [
        "show support.csv",
        "show support.csv --format json",
        "validate support.csv --format json",
        "lint support.csv --format sarif",
        "traces traces/good.otlp.jsonl --format json",
        "diff support.csv support.examples.json --format json",
        "run --golden support.explain.jsonl -m rouge_l --format json",
        "run --golden support.explain.jsonl -m rouge_l --format csv",
        "run --golden support.explain.jsonl -m rouge_l --format junit",
        "run --golden support.explain.jsonl -m rouge_l --format html --no-store",
    ],
)
def test_report_replaces_the_last_one(shop: Path, command: str):
    first = CliRunner().invoke(carob, [*command.split(), "-o", "report.out"])
    (shop / "report.out").write_bytes((shop / "report.out").read_bytes() + b"\n\n")
    size = (shop / "report.out").stat().st_size
    second = CliRunner().invoke(carob, [*command.split(), "-o", "report.out"])
    assert first.exit_code == second.exit_code < 2, second.output
    assert (shop / "report.out").stat().st_size < size
