"""Run the frameworks through the scenarios and store what their recorders export.

python -m tests.captures                     every recording
python -m tests.captures 'langgraph-*'       some of them
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.captures.scenario import MODEL, SCENARIOS, TOOLS, resolve_hand_over
from tests.captures.server import CaptureServer, Session
from tests.captures.stable import stabilize_exports
from tests.captures.table import Cell, list_cells
from tests.captures.truth import describe_truth

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".captures"
RECORDINGS = HERE / "recordings"
_COMPRESSED_FROM = 64_000
_SECONDS = 180


def record(cell: Cell) -> None:
    """Run one framework through one scenario; raises if it does not follow the script."""
    folder = prepare_environment(cell)
    scenario = SCENARIOS[cell.scenario]
    hand_over = cell.table.get("hand_over", {}).get(scenario.team)
    scenario = resolve_hand_over(scenario, hand_over)
    with CaptureServer() as server:
        session = server.session = Session(scenario)
        described = {**asdict(scenario), "model": MODEL, "all_tools": TOOLS}
        environment = {
            **os.environ,
            **cell.settings.get("environment", {}),
            "CAPTURE_URL": server.url,
            "CAPTURE_RECORDER": cell.recorder,
            "CAPTURE_SCENARIO": json.dumps(described),
            "CAPTURE_STREAM": "on" if "stream" in cell.options else "off",
            "CAPTURE_CONTENT": "off" if "hidden" in cell.options else "on",
            "PYTHONPATH": str(ROOT),
            "HOME": str(folder),
            "NO_PROXY": "127.0.0.1",
        }
        if "hidden" in cell.options:
            environment.update(cell.settings.get("hidden_environment", {}))
        process = subprocess.run(
            _command(cell, folder),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
        )
        _check_run(session, process)
        port = str(server.server_address[1])
        folders = (folder, ROOT, Path.home(), Path(sys.base_prefix))
        lines = stabilize_exports(session.exports(), port=port, folders=folders)
    _write(cell, lines, describe_truth(session))


def prepare_environment(cell: Cell) -> Path:
    """Return the folder with the packages of a framework; installed if the versions changed."""
    folder = ENVIRONMENTS / cell.framework
    stamp = folder / "installed.json"
    packages = json.dumps(cell.table["packages"])
    if stamp.exists() and stamp.read_text() == packages:
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if cell.table.get("runtime") == "node":
        command = ["npm", "install", "--legacy-peer-deps", "--no-audit", "--no-fund"]
        command += ["--prefix", str(folder)]
    else:
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--clear", str(folder / "venv")], check=True)
        python = str(folder / "venv/bin/python")
        command = [*uv, "pip", "install", "--quiet", "--python", python]
    subprocess.run([*command, *cell.table["packages"]], check=True)
    # Some packages install their own tests, which would hide this package.
    for tests in folder.glob("venv/lib/*/site-packages/tests"):
        shutil.rmtree(tests)
    stamp.write_text(packages)
    return folder


def _command(cell: Cell, folder: Path) -> list[str]:
    script = cell.table.get("script", cell.framework.replace("-", "_"))
    if cell.table.get("runtime") == "node":
        # Node resolves packages from the folder of the script.
        for source in (HERE / "frameworks").glob("*.mjs"):
            shutil.copy(source, folder / source.name)
        return ["node", str(folder / f"{script}.mjs")]
    return [str(folder / "venv/bin/python"), "-m", f"tests.captures.frameworks.{script}"]


def _check_run(session: Session, process: subprocess.CompletedProcess[str]) -> None:
    expected = sum(
        reply.refusal is None for asked in session.scenario.questions for reply in asked.replies
    )
    problems = list(session.errors)
    if process.returncode:
        problems.append(f"exit code {process.returncode}")
    if len(session.answers) != len(session.scenario.questions):
        problems.append(f"{len(session.answers)} answers")
    if len(session.served) != expected and session.scenario.max_steps is None:
        problems.append(f"{len(session.served)} of {expected} model calls")
    if not session.exports():
        problems.append("nothing was exported")
    for asked, answer in zip(session.scenario.questions, session.answers, strict=False):
        last = asked.replies[-1]
        if last.text and answer["response"] != last.text:
            problems.append(f"the answer is {answer['response']!r}, error {answer['error']!r}")
    if problems:
        raise RuntimeError("; ".join(problems) + "\n" + process.stderr[-2000:])


def _write(cell: Cell, lines: list[dict[str, Any]], turns: list[dict[str, Any]]) -> None:
    RECORDINGS.mkdir(exist_ok=True)
    for old in RECORDINGS.glob(f"{cell.name}.jsonl*"):
        old.unlink()
    encoded = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    ).encode()
    path = RECORDINGS / f"{cell.name}.jsonl"
    if len(encoded) > _COMPRESSED_FROM:
        path.with_suffix(".jsonl.gz").write_bytes(gzip.compress(encoded, mtime=0))
    else:
        path.write_bytes(encoded)
    text = json.dumps(turns, indent=1, ensure_ascii=False)
    (RECORDINGS / f"{cell.name}.truth.json").write_text(f"{text}\n")


def main(patterns: list[str]) -> int:
    """Record the cells that match; return 1 if one of them failed."""
    cells = list(list_cells(patterns or ["*"]))
    for cell in cells:
        prepare_environment(cell)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = sum(pool.map(_try_to_record, cells))
    return 1 if failures else 0


def _try_to_record(cell: Cell) -> bool:
    """Record a cell and return whether that failed."""
    try:
        record(cell)
    except (RuntimeError, subprocess.SubprocessError) as error:
        print(f"failed  {cell.name}: {error}", file=sys.stderr, flush=True)
        return True
    print(f"stored  {cell.name}", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
