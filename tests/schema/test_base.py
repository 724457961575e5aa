from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "carob"
DATA = PACKAGE / "demo" / "data"
COLD = """
import sys, threading
import carob

sys.setswitchinterval(1e-6)  # makes a race certain that is rare otherwise
barrier = threading.Barrier(8)
golden, traces = sys.argv[2:]

def work():
    barrier.wait()
    if sys.argv[1] == "load":
        carob.load(golden)
    else:
        carob.run(traces, golden=golden, metrics=["exact_match", "tool_usage_accuracy"], jobs=1)

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""
UNPREPARED = re.compile(
    r"""msgspec\.convert\((?!.*(?:prepare_type|CauseKind))
    |msgspec\.(?:json|msgpack)\.Decoder\((?!prepare_type|Entry\)|\)|dict\[str,|list\[msgspec)
    |msgspec\.json\.decode\(.*type=(?!prepare_type|str\b|dict\[str,)""",
    re.VERBOSE,
)


@pytest.mark.parametrize("call", ["load", "run"])
def test_threads_of_a_cold_process_do_not_crash_it(call: str, tmp_path: Path):
    files = [str(DATA / "support.evalset.json"), str(DATA / "traces" / "good.otlp.jsonl")]
    command = [sys.executable, "-c", COLD, call, *files]
    for _ in range(2):
        subprocess.run(command, cwd=tmp_path, check=True)


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_every_type_is_prepared_before_it_is_decoded(path: Path):
    text = re.sub(r"\(\n\s+", "(", path.read_text("utf-8"))
    found = [line for line in text.splitlines() if UNPREPARED.search(line)]
    if path.name != "base.py":
        assert found == []
