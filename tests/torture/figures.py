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

from tests.torture.tally import Tally, total

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
| receivers | three agents send spans to `carob serve`, valid and mutated ones, while it is killed or its disk fills up, on SQLite and PostgreSQL | spans that were acknowledged are there and can be opened; a disk that was full for a moment is used again; no internal error |
| writers | eight to ten processes at once: runs in one store, conversions to one file, releases of one dataset, captures to one file, reviews of one file | nothing that was acknowledged is lost, nothing is mixed |
| inputs | mutated golden data, traces, configurations, runs, labels, scores, releases, stores and sidecars, through every command that reads them | an answer or an error; no traceback, no hang above 5 seconds, no more than 300 MB, no invalid JSON |

Inputs are mutated in their structure: values change their type, subtrees move between documents, tables lose cells, texts become hostile. An
input that leads to a message that was not seen before joins the corpus, and later inputs start from it. Seconds are counted without those in which other
programs had the core that the command needed.
"""


def record(campaign: str, tally: Tally, seconds: float, home: Path) -> None:
    """Add the figures of a campaign to those of earlier ones, and write the page."""
    home.mkdir(exist_ok=True)
    file = home / "figures.json"
    figures: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    entry = figures.setdefault(campaign, {"counts": {}, "runs": []})
    counts: Counter[str] = Counter(entry["counts"])
    entry["counts"] = dict(counts + tally.counts)
    entry["runs"].append(
        {
            "date": f"{datetime.now(UTC):%Y-%m-%d}",
            "commit": _commit(),
            "seconds": round(seconds),
            "tried": tally.total,
            "problems": dict(Counter(finding.what for finding in tally.findings)),
        }
    )
    file.write_text(json.dumps(figures, indent=2, sort_keys=True))
    with (home / "findings.txt").open("a") as log:
        log.writelines(f"{finding.what}\n{finding.detail}\n\n" for finding in tally.findings)
    write_page(figures)


def write_page(figures: dict[str, Any]) -> None:
    """Write the page with the figures of all campaigns."""
    PAGE.write_text("\n".join([_INTRODUCTION, *_figures(figures)]), "utf-8")


def _figures(figures: dict[str, Any]) -> Iterator[str]:
    yield "## Figures\n"
    yield (
        f"Python {platform.python_version()}, {platform.system()}. A problem is one attempt that broke a rule; the problems of the last run"
        " of a campaign are listed below, those of earlier runs were fixed since or are listed again. The goal is 1,000 kills and 1,000,000 inputs"
        " without a problem; the table says how far all recorded runs came, and a plus sign after a commit means later changes.\n"
    )
    yield f"Commands, servers and databases killed in all campaigns: {_kills(figures):,}. Inputs: {_tried(figures, 'inputs'):,}.\n"
    yield "| campaign | tried | problems in the last run | in all runs | runs | minutes | last run | commit |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, entry in sorted(figures.items()):
        runs, tried = entry["runs"], total(entry["counts"])
        problems = [sum(run["problems"].values()) for run in runs]
        minutes = sum(run["seconds"] for run in runs) / 60
        last = f"{problems[-1]:,} of {runs[-1]['tried']:,}"
        yield (
            f"| {name} | {tried:,} | {last} | {sum(problems):,} | {len(runs)} | {minutes:,.1f}"
            f" | {runs[-1]['date']} | {runs[-1]['commit']} |"
        )
    yield ""
    for name, entry in sorted(figures.items()):
        yield f"**{name}**: {' · '.join(_kinds(entry['counts']))}\n"
        problems = entry["runs"][-1]["problems"]
        for what, count in sorted(problems.items()):
            yield f"- problem ({count}): `{what}`"
        if problems:
            yield ""


def _kills(figures: dict[str, Any]) -> int:
    killed = figures.get("receivers", {"counts": {}})["counts"]
    servers = sum(number for kind, number in killed.items() if kind.startswith("killed"))
    return _tried(figures, "kills") + _tried(figures, "PostgreSQL") + servers


def _tried(figures: dict[str, Any], campaign: str) -> int:
    return total(figures[campaign]["counts"]) if campaign in figures else 0


def _kinds(counts: dict[str, int]) -> Iterator[str]:
    """Each kind of attempt with its number; the faults of many commands together."""
    groups: dict[str, list[int]] = {}
    for kind, number in counts.items():
        groups.setdefault(kind.partition(": ")[0], []).append(number)
    for kind, numbers in sorted(groups.items(), key=lambda item: (-sum(item[1]), item[0])):
        commands = f" ({len(numbers)} commands)" if f"{kind}: " in "".join(counts) else ""
        yield f"{kind} {sum(numbers):,}{commands}"


def _commit() -> str:
    """The commit, with a plus sign if files were changed since."""
    commit, changes = _git("rev-parse", "--short", "HEAD"), _git("status", "--porcelain", "src")
    return f"{commit or 'unknown'}{'+' if changes else ''}"


def _git(*arguments: str) -> str:
    command = ["git", *arguments]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip()
