from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from carob.cli import output

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
