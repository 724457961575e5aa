"""The process that a local model runs in: if the model takes it down, the run goes on.

It is run as a file and imports nothing of ours. What to do comes as a line of JSON on stdin, where
the model answers leaves as one on stdout, and when stdin ends, so does the process: however the run
ends, nothing of it stays behind.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    wanted = json.loads(sys.stdin.readline())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else is printed is not an answer
    try:
        server = _server(**wanted)
        answer = {"url": server.listening_address}
    except Exception as error:  # noqa: BLE001 - whatever it is, who started this tells the user
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), file=out, flush=True)
    if "url" in answer:
        sys.stdin.read()
    os._exit(0)  # its threads may be at work


def _server(*, path: str, key: str, context: int) -> Any:
    """Two questions at a time, or what is left of the one before, would change the numbers that the
    processor adds up, and now and then a verdict: so there is neither."""
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    params.n_parallel = 1
    params.cache_prompt = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def threads() -> int:
    """Half of the processors that we may use. The others are mostly the same ones under another
    name; and since all threads wait for each other after every step, a single processor that is
    busy with something else would make the answer take many times as long."""
    mine = getattr(os, "sched_getaffinity", None)
    return max(1, (len(mine(0)) if mine else os.cpu_count() or 1) // 2)


if __name__ == "__main__":
    main()
