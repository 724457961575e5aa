"""Runs in progress that other processes make, on the pages of a server of the same store."""

from __future__ import annotations

import re
from pathlib import Path

from carob.api.shards import ShardedRun
from tests.server.conftest import start_server
from tests.store.test_shards import make_request, write_inputs


def test_run_of_other_processes_shows_its_shards_until_it_is_complete(tmp_path: Path):
    write_inputs(tmp_path)
    run = ShardedRun(make_request(tmp_path, str(tmp_path / "store.db")))
    run.start()
    for number in range(3):
        run.score(number)
    server = start_server(tmp_path, "--store", "store.db")
    client = server.client
    runs = client.get("/runs").body.decode()
    assert "In progress" in runs
    found = re.search(r'href="(/progress/\w+)"', runs)
    assert found
    page = client.get(found[1]).body.decode()
    assert "3 of 7 shards scored" in page
    assert '<progress value="3" max="7"' in page
    assert 'data-poll="1"' in page
    for number in run.missing():
        run.score(number)
    assert run.finish()
    answer = client.get(found[1])
    assert (answer.status, answer.headers["location"]) == (303, "/runs")
    assert "In progress" not in client.get("/runs").body.decode()
    assert client.get("/progress/%3Cb%3E").status == 303
    assert server.stop() == 0
