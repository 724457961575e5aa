"""Ten processes that write to the same place at once."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tests.torture.scenarios import End, invoke, prepared_samples, start
from tests.torture.tally import Finding, Tally

WRITERS = 10
_RUN = ("run", "traces/good.otlp.jsonl", "-g", "support.evalset.json", "--jobs", "1")


def write_together(seconds: float, *, postgres: str | None = None) -> Tally:
    """Let writers meet for some time, in each place in turn."""
    tally = Tally("writers")
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="carob-write-") as name:
        folder = Path(name)
        with prepared_samples(folder) as samples:
            meetings = [_store("s.db"), _table, _registry, _appended, _reviews]
            if postgres:
                meetings.append(_store(postgres))
            number = 0
            while number == 0 or time.monotonic() < end:
                for meeting in meetings:
                    number += 1
                    if number > len(meetings) and time.monotonic() > end:
                        break
                    work = folder / "work"
                    shutil.rmtree(work, ignore_errors=True)
                    shutil.copytree(samples, work)
                    for problem in meeting(work, number, tally):
                        tally.findings.append(Finding(problem[:150], problem))
    return tally


Meeting = Callable[[Path, int, Tally], Iterator[str]]


def _store(store: str) -> Meeting:
    """Ten runs in one store: all of them are there, and they verify."""

    def meet(folder: Path, number: int, tally: Tally) -> Iterator[str]:
        labels = [f"{number}-{writer}" for writer in range(WRITERS)]
        commands = [
            (*_RUN, "--limit", str(writer % 9 + 1), "--label", f"writer={label}", "--store", store)
            for writer, label in enumerate(labels)
        ]
        kind = "PostgreSQL" if "://" in store else "SQLite"
        ends = _run_together(folder, commands, f"store, {kind}", tally)
        yield from (end.errors for end in ends if "warning" in end.errors or end.code == 2)
        verified = invoke(folder, ("store", "verify", "--store", store))
        if verified.exit_code:
            yield f"store verify: {verified.output} {verified.exception}"
        listed = invoke(folder, ("runs", "--limit", "1000", "--format", "json", "--store", store))
        found = {entry["labels"].get("writer") for entry in json.loads(listed.stdout)["runs"]}
        yield from (f"run {label} is missing" for label in labels if label not in found)

    return meet


def _table(folder: Path, number: int, tally: Tally) -> Iterator[str]:
    """Ten conversions to one file: it is one of them, with the sidecar that belongs to it."""
    sources = ("support.evalset.json", "support_golden.json")
    commands = [
        ("convert", sources[writer % 2], "new.csv", "--to", "csv", "--force")
        for writer in range(WRITERS)
    ]
    ends = _run_together(folder, commands, "convert", tally)
    yield from (end.errors for end in ends if end.code != 0)
    for number, source in enumerate(sources):
        alone = folder / f"alone{number}"
        alone.mkdir()
        invoke(folder, ("convert", source, f"{alone.name}/new.csv", "--to", "csv"))
    pairs = [_pair(folder / name) for name in ("alone0", "alone1", ".")]
    if pairs[2] not in pairs[:2]:
        yield "the table and its sidecar do not belong together"


def _pair(folder: Path) -> list[bytes | None]:
    files = (folder / "new.csv", folder / "new.csv.carob.json")
    return [file.read_bytes() if file.exists() else None for file in files]


def _reviews(folder: Path, number: int, tally: Tally) -> Iterator[str]:
    """Eight reviewers of one file, each of another case: every review is there."""
    commands = [
        ("review", "support.evalset.json", str(case), "--as", "approved", "--by", f"reviewer{case}")
        for case in range(1, 9)
    ]
    ends = _run_together(folder, commands, "review", tally)
    text = (folder / "support.evalset.json").read_text()
    for case, end in enumerate(ends, 1):
        if end.code == 0 and f"reviewer{case}" not in text:
            yield f"the review of case {case} was acknowledged, and is not there"


def _registry(folder: Path, number: int, tally: Tally) -> Iterator[str]:
    """Ten releases of one dataset: one of them wins, and the registry verifies."""
    command = ("release", "next.json", "--registry", "registry", "--by", "me")
    ends = _run_together(folder, [command] * WRITERS, "release", tally)
    winners = sum(end.code == 0 for end in ends)
    if not winners:
        yield f"no release succeeded: {ends[0].errors}"
    verified = invoke(folder, ("versions", "--verify", "--registry", "registry"))
    if verified.exit_code:
        yield f"versions --verify: {verified.output} {verified.exception}"


def _appended(folder: Path, number: int, tally: Tally) -> Iterator[str]:
    """Ten captures that append to one file: every case that was acknowledged is there."""
    lines = (folder / "traces" / "good.otlp.jsonl").read_bytes().splitlines(keepends=True)
    share = max(1, len(lines) // WRITERS)
    commands: list[tuple[str, ...]] = []
    for writer in range(WRITERS):
        part = folder / f"part{writer}.jsonl"
        part.write_bytes(b"".join(lines[writer * share : (writer + 1) * share]) or lines[0])
        commands.append(("capture", part.name, "captured.json", "--to", "adk", "--append"))
    (folder / "captured.json").unlink(missing_ok=True)
    ends = _run_together(folder, commands, "capture --append", tally)
    for writer, end in enumerate(ends):
        if end.code != 0:
            continue
        alone = folder / f"alone{writer}.json"
        invoke(folder, ("capture", f"part{writer}.jsonl", alone.name, "--to", "adk"))
        if missing := _ids(alone) - _ids(folder / "captured.json"):
            yield f"captured, acknowledged, and not there: {sorted(missing)}"


def _ids(file: Path) -> set[str]:
    return {case["eval_id"] for case in json.loads(file.read_bytes())["eval_cases"]}


def _run_together(
    folder: Path, commands: Sequence[Sequence[str]], kind: str, tally: Tally
) -> list[End]:
    processes = [start(folder, command) for command in commands]
    ends: list[End] = []
    for process in processes:
        _, errors = process.communicate(timeout=300)
        ends.append(End(process.returncode, errors))
        tally.count(kind)
        if "Traceback" in errors:
            tally.findings.append(Finding(f"{kind}: traceback", errors))
    return ends
