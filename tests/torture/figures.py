"""The figures of all campaigns so far, and the page that shows them."""

from __future__ import annotations

import json
import platform
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.torture.tally import Tally

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reliability.md"
_INTRODUCTION = """\
# Reliability

`make torture` tries to break Carob, and writes this page. It runs the real commands, from their start-up on, and judges them by what a
user sees. `make torture SECONDS=3600` gives each campaign an hour; `make test` runs a short version of each.

| campaign | what it does | what must hold |
|---|---|---|
| kills | `kill -9` at a random moment, of the command alone or with its workers, for every command that writes, with one and two jobs | every file has its old or its new content; the store verifies; what was acknowledged is there; the same command, given again, ends as if it had never been killed |
| PostgreSQL | the same for runs that are saved in PostgreSQL: the client is killed, or the server | the same |
| faults | a full disk at the first write, the second, and so on (once, for good, or after half a write); a read-only folder; a file that vanishes; a read that fails; a clock that runs backwards | the same, and an error instead of a traceback |
| writers | ten processes at once: runs in one store, conversions to one file, releases of one dataset, captures to one file | nothing that was acknowledged is lost, nothing is mixed |
| inputs | mutated golden data, traces, configurations, runs, labels, scores, releases, stores and sidecars, through every command that reads them | an answer or an error; no traceback, no hang above 5 seconds, no more than 300 MB, no invalid JSON |

Inputs are mutated in their structure: values change their type, subtrees move between documents, tables lose cells, texts become hostile. An
input that leads to a message that was not seen before joins the corpus, and later inputs start from it.
"""


def record(campaign: str, tally: Tally, seconds: float, home: Path) -> None:
    """Add the figures of a campaign to those of earlier ones, and write the page."""
    home.mkdir(exist_ok=True)
    file = home / "figures.json"
    figures: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    entry = figures.setdefault(campaign, {"counts": {}, "findings": {}, "seconds": 0})
    counts: Counter[str] = Counter(entry["counts"])
    entry["counts"] = dict(counts + tally.counts)
    findings: Counter[str] = Counter(entry["findings"])
    findings.update(finding.what for finding in tally.findings)
    entry["findings"] = dict(findings)
    entry["seconds"] += round(seconds)
    entry["last"] = f"{datetime.now(UTC):%Y-%m-%d}"
    file.write_text(json.dumps(figures, indent=2, sort_keys=True))
    with (home / "findings.txt").open("a") as log:
        log.writelines(f"{finding.what}\n{finding.detail}\n\n" for finding in tally.findings)
    PAGE.write_text("\n".join([_INTRODUCTION, *_figures(figures)]), "utf-8")


def _figures(figures: dict[str, Any]) -> Iterator[str]:
    yield "## Figures\n"
    yield f"Python {platform.python_version()}, {platform.system()}, commit {_commit()}.\n"
    yield "| campaign | tried | problems | hours | last run |"
    yield "|---|---|---|---|---|"
    for name, entry in sorted(figures.items()):
        tried, found = sum(entry["counts"].values()), sum(entry["findings"].values())
        hours = f"{entry['seconds'] / 3600:.1f}"
        yield f"| {name} | {tried:,} | {found:,} | {hours} | {entry['last']} |"
    yield ""
    for name, entry in sorted(figures.items()):
        counts = sorted(entry["counts"].items(), key=lambda item: (-item[1], item[0]))
        yield f"**{name}**: " + ", ".join(f"{kind} {count:,}" for kind, count in counts) + "\n"
        for what, count in sorted(entry["findings"].items()):
            yield f"- problem ({count}): `{what}`"
        if entry["findings"]:
            yield ""


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip() or "unknown"
