from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from urllib.error import HTTPError

import pytest

from carob.judges.providers import llama_server
from carob.judges.providers.gguf import find_weights
from carob.schema import JudgeSettings


def _status(url: str, key: str) -> int:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"})  # noqa: S310
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - on loopback
            return answer.status
    except HTTPError as error:
        with error:
            return error.code


def test_server_requires_the_key_and_exits_when_stdin_closes():
    weights = find_weights(JudgeSettings(model="local:smollm2"))
    options = json.dumps({"path": str(weights), "key": "sesame", "context": 256}) + "\n"
    program = [sys.executable, "-P", llama_server.__file__]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        run.stdin.write(options)
        run.stdin.flush()
        url = json.loads(run.stdout.readline())["url"]
        assert url.startswith("http://127.0.0.1:")
        assert [_status(f"{url}/props", key) for key in ("sesame", "open")] == [200, 401]
        run.stdin.close()
        assert run.wait(10) == 0
        assert run.stdout.read() == ""


@pytest.mark.parametrize(("processors", "threads"), [(1, 1), (2, 1), (3, 1), (8, 4)])
def test_half_of_the_processors_are_used(
    processors: int, threads: int, monkeypatch: pytest.MonkeyPatch
):
    def affinity(_: int) -> set[int]:
        return set(range(processors))

    monkeypatch.setattr("os.sched_getaffinity", affinity, raising=False)
    assert llama_server.thread_count() == threads
