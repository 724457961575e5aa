"""Runs that ask a live agent, started over REST and from the pages of a real server."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.server.conftest import Answer, Client, Process, start_server
from tests.server.test_golden import post, wait_for

AGENT = """
import asyncio

async def answer(message):
    if "broken" in message:
        raise RuntimeError("the pump is broken")
    return "The bike costs 300 euros."

async def slow(message):
    with open("asked.txt", "a") as file:
        file.write(message + "\\n")
    if "red" in message:
        await asyncio.sleep(500)
    return await answer(message)
"""
CONFIG = """
[target]
name = "python:agent.py:slow"
[targets.shop]
name = "python:agent.py:answer"
[targets.slow-shop]
name = "python:agent.py:slow"
turn_timeout = 400
"""
QUESTIONS = ["Price of the bike?", "And of the red bike?", "Is the pump broken?"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def write_shop(folder: Path) -> Path:
    (folder / "agent.py").write_text(AGENT)
    (folder / "carob.toml").write_text(CONFIG)
    (folder / "golden").mkdir()
    rows = [
        {"id": f"q{number}", "input": question, "expected_output": "The bike costs 300 euros."}
        for number, question in enumerate(QUESTIONS)
    ]
    (folder / "golden" / "bikes.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = write_shop(tmp_path_factory.mktemp("live-server"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CAROB_TRUST", "1")
        started = start_server(folder)
    yield started
    assert started.stop() == 0


@pytest.fixture
def api(served: Process) -> Client:
    return served.client


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAROB_TRUST", "1")


def wait_until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def send_form(api: Client, page: str, path: str, **fields: str) -> Answer:
    """Send a form of a page as a browser without scripts does."""
    token = re.search(r'name="form_token"[^>]* value="([^"]*)"', page)
    assert token
    body = urlencode({**fields, "form_token": token[1]}).encode()
    return api.ask("POST", path, body, {**FORM, "Origin": api.address})


def test_targets_are_listed_by_name_without_settings(api: Client):
    assert api.get("/api/targets").json() == {"targets": ["shop", "slow-shop"]}


def test_live_run_is_started_by_the_name_of_its_target(api: Client):
    body = {"dataset": "bikes", "target": "shop", "metrics": ["exact_match"]}
    status, job = post(api, "/api/runs", body)
    assert (status, job["target"], job["stage"]) == (202, "shop", "asking"), job
    state = wait_for(api, str(job["id"]))
    assert (state["state"], state["failed_conversations"], state["cost"]) == ("done", 1, None), (
        state
    )
    run = api.get(f"/api/runs/{state['run']}").json()
    assert run["target"]["name"] == "python:agent.py:answer"
    cases = run["summary"]["cases"]
    assert (cases["passed"], cases["failed"], cases["total"]) == (2, 0, 3), cases
    rescored = post(api, f"/api/runs/{state['run']}/rescore", {"dataset": "bikes"})[1]
    assert wait_for(api, str(rescored["id"]))["state"] == "done"
    both = post(api, f"/api/runs/{state['run']}/rescore", {"dataset": "bikes", "target": "shop"})
    assert both[0] == 400


@pytest.mark.parametrize(
    "target",
    [
        *("python:agent.py:answer", "python:os:system", "command:touch pwned", "http:agent.toml"),
        *("adk:http://127.0.0.1:1/app", "http://127.0.0.1:1", "agent.py", "../carob.toml"),
        *("", "shops", "SHOP", "targets.shop", {"name": "python:agent.py:answer"}),
    ],
)
def test_only_names_of_the_server_config_are_targets(api: Client, target: object):
    jobs = len(api.get("/api/jobs").json()["items"])
    status, answer = post(api, "/api/runs", {"dataset": "bikes", "target": target})
    assert status in (400, 404), answer
    assert len(api.get("/api/jobs").json()["items"]) == jobs


def test_misspelt_target_gets_a_suggestion(api: Client):
    status, answer = post(api, "/api/runs", {"dataset": "bikes", "target": "shopp"})
    assert (status, "shop" in str(answer["hint"])) == (404, True), answer


@pytest.mark.parametrize("other", [{"traces": ["x"]}, {"sessions": ["x"]}])
def test_target_excludes_traces_and_sessions(api: Client, other: dict[str, object]):
    status, answer = post(api, "/api/runs", {"dataset": "bikes", "target": "shop", **other})
    assert (status, answer["hint"]) == (400, "pass only one of them"), answer


def test_no_agent_is_asked_unless_the_request_names_it(api: Client):
    status, job = post(api, "/api/runs", {"dataset": "bikes", "metrics": ["exact_match"]})
    assert status == 202
    state = wait_for(api, str(job["id"]))  # the agent of [target] would not answer in time
    assert state["failed_conversations"] == 0
    assert state["target"] is None


def test_page_of_a_dataset_starts_a_live_run_and_its_page_shows_and_cancels_it(api: Client):
    page = api.get("/datasets/bikes").body.decode()
    assert "target:slow-shop" in page
    assert "live agent slow-shop" in page
    started = send_form(api, page, "/datasets/bikes/run", source="target:slow-shop")
    assert started.status == 303, started.body
    where = started.headers["location"]
    end = time.monotonic() + 20
    while "2 of 3 conversations held, 1 failed" not in (page := api.get(where).body.decode()):
        assert time.monotonic() < end, page
        time.sleep(0.05)
    assert "Asking slow-shop: bikes" in page
    state = api.get(f"/api{where}").json()
    assert [state[name] for name in ("done", "total", "failed_conversations", "cost")] == [
        2,
        3,
        1,
        None,
    ]
    begin = time.monotonic()
    assert send_form(api, page, f"{where}/cancel").status == 303
    state = wait_for(api, where.rpartition("/")[2])
    assert state["state"] == "cancelled", state
    assert time.monotonic() - begin < 15  # the turn itself would take 400 s


def test_cancelled_run_goes_on_without_asking_again(tmp_path: Path, trusted: None):
    started = start_server(write_shop(tmp_path))
    asked = tmp_path / "asked.txt"
    asked.touch()
    try:
        for attempt in (1, 2):
            job = post(started.client, "/api/runs", {"dataset": "bikes", "target": "slow-shop"})[1]
            wait_until(lambda n=attempt: asked.read_text().count(QUESTIONS[1]) == n)
            if attempt == 1:
                where = f"/api/jobs/{job['id']}"
                wait_until(lambda at=where: started.client.get(at).json()["done"] == 2)
            post(started.client, f"/api/runs/{job['id']}/cancel", {})
            assert wait_for(started.client, str(job["id"]))["state"] == "cancelled"
    finally:
        started.stop()
    assert sorted(asked.read_text().splitlines()) == sorted([*QUESTIONS, QUESTIONS[1]])


def test_untrusted_target_is_refused_without_its_settings(tmp_path: Path):
    started = start_server(write_shop(tmp_path))
    try:
        api = started.client
        assert api.get("/api/targets").json() == {"targets": ["shop", "slow-shop"]}
        status, answer = post(api, "/api/runs", {"dataset": "bikes", "target": "shop"})
        assert (status, "agent.py" in json.dumps(answer)) == (409, False), answer
        assert "not trusted" in str(answer["detail"])
    finally:
        started.stop()


def test_server_stops_while_an_agent_is_asked(tmp_path: Path, trusted: None):
    started = start_server(write_shop(tmp_path))
    post(started.client, "/api/runs", {"dataset": "bikes", "target": "slow-shop"})
    wait_until((tmp_path / "asked.txt").exists)
    assert started.stop() == 0
