"""The examples in README.md and docs/, carried out. `python -m tests.docs` writes them anew.

In a page, in order and in one folder that holds the bundled data files:

- a `console` block is a terminal: lines after `$ ` are carried out by `sh`, the lines below them
  are what was printed, stdout before stderr. A command that fails is followed by `$ echo $?`.
- a `python` block is a program of its own; the `text` block right after it is what it printed.
- a block with `file=NAME` after its language is written to that file.
- a page that is to be read only starts with `<!-- not carried out -->`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "src" / "carob" / "demo" / "data"
WIDTH = "100"
_BLOCK = re.compile(r"^```(?P<info>\w[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Result(NamedTuple):
    """What a command printed, and its exit code."""

    text: str
    code: int


class StaleError(Exception):
    """An example that cannot be shown as it is."""


def pages() -> list[Path]:
    """Every page whose examples are carried out; the reference is generated from the code."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "reference" not in page.parts]


def play(text: str, folder: Path) -> str:
    """The page with the outputs that its examples have now."""
    if text.startswith("<!-- not carried out -->"):
        return text
    made: list[str] = []
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
        made += [between, f"```{block['info']}\n{body}```"]
        end = block.end()
    if printed is not None:
        _expect_output("", "", printed)
    return "".join([*made, text[end:]])


def _expect_output(language: str, between: str, printed: str) -> None:
    if language != "text" or between.strip():
        raise StaleError(f"no `text` block after a program that prints {printed[:60]!r}")


def _write(word: str, body: str, folder: Path) -> None:
    key, _, name = word.partition("=")
    if key == "file":
        (folder / name).write_text(body, "utf-8", newline="")


def _terminal(body: str, folder: Path) -> str:
    made: list[str] = []
    code = 0
    for command in _commands(body):
        if code and command != "echo $?":
            raise StaleError(f"exit code {code} before {command!r} is not shown with `$ echo $?`")
        # The subshell hands the last exit code to `$?`.
        result = _carry_out(["sh", "-c", f"(exit {code}); {command}"], folder)
        code = 0 if command == "echo $?" else result.code
        made.append("$ " + command.replace("\n", "\n> ") + "\n" + result.text)
    if code:
        raise StaleError(f"exit code {code} is not shown with `$ echo $?`")
    return "".join(made)


def _commands(body: str) -> Iterator[str]:
    """Commands start with `$ ` and go on after `> ` where a line ends with a backslash."""
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
    result = _carry_out([sys.executable, "-c", body], folder)
    if result.code:
        raise StaleError(f"a program failed:\n{result.text}")
    return result.text


def _carry_out(command: list[str], folder: Path) -> Result:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "COLUMNS": WIDTH,
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "TZ": "UTC",
    }
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, timeout=120, check=False
    )
    text = done.stdout.decode() + done.stderr.decode()
    return Result(text if text.endswith("\n") or not text else text + "\n", done.returncode)


def fill(folder: Path) -> None:
    """Put the bundled data files into the folder."""
    shutil.copytree(DATA, folder, dirs_exist_ok=True)


def main() -> None:
    """Write the outputs in all pages anew."""
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
