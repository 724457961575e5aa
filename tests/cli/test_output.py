from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from carob.cli import output
from carob.schema import Problem


def test_progress_is_one_line_that_is_cleared_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(output, "PROGRESS_DELAY", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.progress_line() as line:
        line.reading(12_400_000, 1_200_000_000)
        line.of("scoring")(3, 8)
    lines = ("reading 12 of 1,200 MB", "scoring 3 of 8", "")
    assert capsys.readouterr().err == "".join(f"\r\x1b[K{text}" for text in lines)


def test_short_work_shows_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.progress_line() as line:
        line.of("scoring")(3, 8)
    assert capsys.readouterr().err == ""


def test_progress_is_shown_only_on_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(output, "PROGRESS_DELAY", -1)
    with output.progress_line() as line:
        line.of("scoring")(3, 8)
    assert capsys.readouterr().err == ""


def test_problem_during_progress_gets_its_own_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(output, "PROGRESS_DELAY", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with output.progress_line() as line:
        line.of("scoring")(3, 8)
        line.report(Problem(where="a.json", message="is cut off"))
    printed = click.unstyle(capsys.readouterr().err.replace("\r\x1b[K", "|"))
    assert printed == "|scoring 3 of 8|error: a.json: is cut off\n"


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
