"""Serve a local model in a separate process, so that a crash of llama.cpp does not end the run.

This file is run as a script and imports nothing of ours. It reads its settings as one line of JSON
from stdin, writes the URL of the server as one line of JSON to stdout, and exits when stdin is
closed. However the run ends, its stdin closes, so no server is left behind.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    settings = json.loads(sys.stdin.readline())
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # llama.cpp prints to stdout, where only the answer belongs
    try:
        server = _start_server(**settings)
        status = {"url": server.listening_address}
    except Exception as error:  # noqa: BLE001 - the parent process reports any error to the user
        status = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(status), file=out, flush=True)
    if "url" in status:
        sys.stdin.read()
    os._exit(0)  # without waiting for the threads of the server


def _start_server(*, path: str, key: str, context: int) -> Any:
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.api_keys = [key]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    # No parallel requests and no prompt cache: both change the order in which floating-point
    # numbers are added up, and now and then a verdict with it.
    params.n_parallel = 1
    params.cache_prompt = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = thread_count()
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def thread_count() -> int:
    """Return half the number of available CPUs."""
    # The other half are mostly hyper-threads of the same cores. And since all threads wait for each
    # other after every step, one CPU that is busy elsewhere would slow down the answer many times.
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, (len(affinity(0)) if affinity else os.cpu_count() or 1) // 2)


if __name__ == "__main__":
    main()
