"""Live runs: many conversations with a slow agent on loopback, against the ideal time."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager

from bench.data import FOLDER
from bench.measure import OURS, ROOT, environment, reported
from bench.row import Number, Row, at_most

LATENCY = 0.1
CASES = 1000
CONCURRENCY = 50
_CPU = 1.0
"""Milliseconds of CPU time that a turn may take in the client."""
_RUN = """
import json, pathlib, resource, sys, tempfile, time
from carob.api.live_request import LiveRequest
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
golden, template, cases, concurrency, what = sys.argv[1:]
live = LiveRequest(target=f"http:{template}", concurrency=int(concurrency))
with tempfile.TemporaryDirectory() as folder:
    request = RunRequest(golden=golden, metrics=["exact_match"], live=live, config=None,
                         store=str(pathlib.Path(folder) / "runs.db"), labels={"a": "b"})
    evaluate(RunRequest(golden=golden, metrics=["exact_match"], live=live, limit=50, save=False))
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    run = evaluate(request).run
    taken = time.perf_counter() - start
after = resource.getrusage(resource.RUSAGE_SELF)
assert run.summary.cases.passed == int(cases), run.summary.cases
cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
print(taken if what == "time" else 1000 * cpu / int(cases))
"""


def measure() -> Iterator[Row]:
    """Ideally, the maximum number of conversations is held all the time."""
    folder = FOLDER / "live"
    folder.mkdir(parents=True, exist_ok=True)
    golden, template = folder / "golden.json", folder / "agent.toml"
    rows = [
        {"input": f"What does hose {number} cost?", "expected_output": "The hose costs 19 euros."}
        for number in range(CASES)
    ]
    golden.write_text(json.dumps(rows))
    with _agent() as url:
        template.write_text(
            f'url = "{url}"\n[body]\ntext = "{{{{message}}}}"\n[answer]\nresponse = "$.reply"\n'
        )
        args = [OURS, "-c", _RUN, golden, template, str(CASES), str(CONCURRENCY)]
        commands = {what: [*args, what] for what in ("time", "cpu")}
        best = reported(commands, repeats=3)
    title = f"{CASES:,} conversations, {CONCURRENCY} at once, an agent of {LATENCY * 1000:g} ms"
    ideal = Number(name="ideal", value=CASES / CONCURRENCY * LATENCY, unit="s")
    ours = Number(name="asked, scored and saved", value=best["time"], unit="s")
    yield at_most(title, ours, ideal, target=1.2)
    yield at_most(
        "CPU time of the client for each turn, scoring and saving included",
        Number(name="Carob", value=best["cpu"], unit="ms"),
        Number(name="limit", value=_CPU, unit="ms"),
        target=1.0,
    )


@contextmanager
def _agent() -> Generator[str]:
    command = [OURS, "-m", "bench.agent_server", "--latency", str(LATENCY)]
    with subprocess.Popen(
        [str(part) for part in command], cwd=ROOT, env=environment(), stdout=subprocess.PIPE
    ) as server:
        try:
            yield next(iter(server.stdout or ())).decode().strip()
        finally:
            server.terminate()
