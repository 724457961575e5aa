"""Run the examples in README.md and docs/; `python -m tests.docs` updates their output.

The blocks of a page run in order, in one folder that contains the sample data:

- a `console` block is a terminal session: `sh` runs the lines that start with `$ `, and the lines
  below are the output, stdout before stderr. A failing command is followed by `$ echo $?`.
- a `python` block is a program; the `text` block right after it is its output.
- a block with `file=NAME` after its language is written to that file.
- servers: `carob serve` gets free ports, which are shown as the default ones, and is stopped at the
  end of the page if its process id is in `serve.pid`.
- a page that starts with `<!-- not executed -->` is not run.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "src" / "carob" / "demo" / "data"
WIDTH = "100"
_BLOCK = re.compile(r"^```(?P<info>\w[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Result(NamedTuple):
    """The output and the exit code of a command."""

    text: str
    code: int


class StaleError(Exception):
    """An example whose documented output or exit code is wrong."""


def pages() -> list[Path]:
    """Every page whose examples run; the reference is generated from the code instead."""
    candidates = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in candidates if "reference" not in page.parts]


def play(text: str, folder: Path) -> str:
    """Return the page with the current output of its examples."""
    if text.startswith("<!-- not executed -->"):
        return text
    if "$ carob serve" not in text:
        return _play(text, folder)
    ports = {default: _free_port() for default in _SERVER_PORTS}
    for default, port in ports.items():
        text = text.replace(f":{default}", f":{port}")
    options = " ".join(f"{_SERVER_PORTS[default]} {port}" for default, port in ports.items())
    try:
        text = _play(text.replace("$ carob serve >", f"$ carob serve {options} >"), folder)
    finally:
        _stop_server(folder / "serve.pid")
    text = text.replace(f"$ carob serve {options} >", "$ carob serve >")
    for default, port in ports.items():
        text = text.replace(f":{port}", f":{default}")
    return text


_SERVER_PORTS = {"8001": "--port", "4318": "--otlp-port", "4317": "--grpc-port"}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def _stop_server(file: Path) -> None:
    if file.exists():
        with suppress(ProcessLookupError):  # the page has stopped it
            os.kill(int(file.read_text()), signal.SIGTERM)


def _play(text: str, folder: Path) -> str:
    output: list[str] = []
    end = 0
    printed: str | None = None
    for block in _BLOCK.finditer(text):
        between = text[end : block.start()]
        language, *words = block["info"].split()
        if printed is not None:
            _expect_output(language, between, printed)
        body = block["body"] if printed is None else printed
        printed = None
        if language == "console":
            body = _terminal(body, folder)
        elif language == "python":
            printed = _program(body, folder) or None
        for word in words:
            _write(word, body, folder)
        output += [between, f"```{block['info']}\n{body}```"]
        end = block.end()
    if printed is not None:
        _expect_output("", "", printed)
    return "".join([*output, text[end:]])


def _expect_output(language: str, between: str, printed: str) -> None:
    if language != "text" or between.strip():
        raise StaleError(f"no `text` block after a program that prints {printed[:60]!r}")


def _write(word: str, body: str, folder: Path) -> None:
    key, _, name = word.partition("=")
    if key == "file":
        (folder / name).write_text(body, "utf-8", newline="")


def _terminal(body: str, folder: Path) -> str:
    output: list[str] = []
    code = 0
    for command in _commands(body):
        if code and command != "echo $?":
            raise StaleError(f"exit code {code} before {command!r} is not shown with `$ echo $?`")
        # The subshell sets `$?` to the exit code of the previous command.
        result = _execute(["sh", "-c", f"(exit {code}); {command}"], folder)
        code = 0 if command == "echo $?" else result.code
        output.append("$ " + command.replace("\n", "\n> ") + "\n" + result.text)
    if code:
        raise StaleError(f"exit code {code} is not shown with `$ echo $?`")
    return "".join(output)


def _commands(body: str) -> Iterator[str]:
    """Yield the commands; one that ends with a backslash continues after `> `."""
    command = ""
    for line in body.splitlines():
        if line.startswith("$ "):
            command = line[2:]
        elif command and line.startswith("> "):
            command += "\n" + line[2:]
        else:
            continue
        if not command.endswith("\\"):
            yield command
            command = ""


def _program(body: str, folder: Path) -> str:
    result = _execute([sys.executable, "-c", body], folder)
    if result.code:
        raise StaleError(f"a program failed:\n{result.text}")
    return result.text


def _execute(command: list[str], folder: Path) -> Result:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": WIDTH,
        "NO_COLOR": "1",
        "PYTHONPATH": str(ROOT / "src"),  # the code beside the pages, whatever is installed
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False
    )
    text = process.stdout.decode() + process.stderr.decode()
    return Result(text if text.endswith("\n") or not text else text + "\n", process.returncode)


def fill(folder: Path) -> None:
    """Copy the sample data into the folder."""
    shutil.copytree(DATA, folder, dirs_exist_ok=True)


def main() -> None:
    """Update the output in all pages."""
    for page in pages():
        with TemporaryDirectory() as name:
            fill(Path(name))
            old = page.read_text("utf-8")
            new = play(old, Path(name))
        if new != old:
            page.write_text(new, "utf-8")
            sys.stdout.write(f"written: {page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
