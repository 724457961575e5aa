"""The rows as a table on the terminal, and as docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table

from bench.measure import ROOT
from bench.row import Row

PAGE = ROOT / "docs" / "benchmarks.md"
_COLUMNS = ("what", "Carob", "beside", "ratio", "target", "met")
_PINNED = (
    ("base.txt", ("click", "msgspec")),
    ("dev.txt", ("orjson",)),
    ("peers.txt", ("google-adk", "agentevals-cli")),
)


def _cells(row: Row) -> tuple[str, ...]:
    bound = "≥" if row.bound == "at least" else "≤"
    ratio, target = f"{row.ratio:.2f}×", f"{bound} {row.target:g}×"
    return row.title, str(row.ours), str(row.theirs), ratio, target, "yes" if row.met else "**no**"


def show(rows: Sequence[Row]) -> None:
    """Print the table."""
    table = Table(*_COLUMNS)
    for row in rows:
        style = None if row.met else "red"
        table.add_row(
            *(cell.replace("`", "").replace("*", "") for cell in _cells(row)), style=style
        )
    Console().print(table)


def write(rows: Sequence[Row]) -> None:
    """Write the page."""
    lines = [_line(_COLUMNS), "|---" * len(_COLUMNS) + "|", *(_line(_cells(row)) for row in rows)]
    PAGE.write_text(_PAGE.format(machine=_machine(), table="\n".join(lines)), "utf-8")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


_PAGE = """\
<!-- written by `make bench` -->
# Benchmarks

`make bench` measures Carob and its peers side by side in one run and writes this page. Both sides
run in processes of their own with their bytecode compiled; the best of several repeats counts.
Seconds differ from machine to machine and noise is large, so that only ratios are held against
targets. Each row is one file in `bench/rows/`.

{table}

Measured {machine}.
"""


def _machine() -> str:
    day = datetime.now(UTC).date().isoformat()
    python = f"Python {platform.python_version()}"
    return f"on {day}: {os.cpu_count()} cores, {platform.machine()}, {python}, {_versions()}"


def _versions() -> str:
    found: list[str] = []
    for file, names in _PINNED:
        text = (ROOT / "requirements" / file).read_text("utf-8")
        for name in names:
            version = re.search(rf"^{name}==(\S+)", text, re.MULTILINE)
            found.append(f"{name} {version[1] if version else '?'}")
    return ", ".join(found)
