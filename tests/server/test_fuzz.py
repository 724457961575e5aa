"""Whatever is sent to a route that the OpenAPI document lists, the server never fails with 500."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.server.conftest import Client, start_server
from tests.server.test_otlp import post, request, span, wait_for_session

DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
EXAMPLES = int(os.environ.get("CAROB_FUZZ_EXAMPLES", "4"))
SESSION = f"{0x77:032x}"


class Filled:
    """A server with one thing of each kind."""

    def __init__(self, client: Client) -> None:
        self.client = client
        upload = client.upload("/api/traces", DEMO / "traces" / "good.otlp.jsonl").json()
        self.names: dict[str, Any] = {"traces": upload["upload"]["id"], "session": SESSION}
        dataset = client.get("/api/datasets").json()["items"][0]["name"]
        case = client.get(f"/api/datasets/{dataset}/cases").json()["items"][0]["case"]["id"]
        self.names |= {"name": dataset, "case": case, "version": "1"}
        self._send(f"/api/datasets/{dataset}/release", {"by": "Mara"})
        job = self._send("/api/runs", {"dataset": dataset, "traces": [self.names["traces"]]})
        self.names |= {"job": job["id"], "run": self._wait(job["id"])}
        metric = "tool_trajectory_avg_score"
        queue = self._send("/api/queues", {"run": self.names["run"], "metric": metric})
        item = client.get(f"/api/queues/{queue['id']}/next?by=Mara").json()["id"]
        self.names |= {"queue": queue["id"], "item": item, "form": "html", "format": "adk"}

    def _send(self, path: str, body: object) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        answer = self.client.ask("POST", path, json.dumps(body).encode(), headers)
        assert answer.status < 300, answer.body
        return answer.json()

    def _wait(self, job: str) -> str:
        for _ in range(300):
            state = self.client.get(f"/api/jobs/{job}").json()
            if state["run"]:
                return state["run"]
            time.sleep(0.1)
        raise AssertionError("the run did not end")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Filled]:
    folder = tmp_path_factory.mktemp("fuzzed")
    (folder / "golden").mkdir()
    shutil.copy(DEMO / "support.evalset.json", folder / "golden")
    started = start_server(folder)
    assert post(started.receiver, request(span(0x77))).status == 200
    wait_for_session(started.client, SESSION)
    yield Filled(started.client)
    assert started.stop() == 0


def test_no_request_makes_the_server_fail(filled: Filled):
    document = f"{filled.client.address}/api/openapi.json"
    schema: Any = cast("Any", schemathesis).openapi.from_url(document)
    operations: list[Any] = [result.ok() for result in schema.get_all_operations()]
    assert len(operations) > 60
    for operation in operations:
        is_stream = operation.path.endswith("/events")
        removes = operation.method.upper() == "DELETE" and "label" not in operation.path
        if not is_stream:
            _send_examples(operation, {} if removes else filled.names)


def _send_examples(operation: Any, names: dict[str, Any]) -> None:
    """Send made-up requests, half of them with names that exist."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        phases=(Phase.generate,),
    )
    @given(case=operation.as_strategy(), is_known=st.booleans())
    def send(case: Any, is_known: bool) -> None:
        if is_known and case.path_parameters:
            case.path_parameters.update(
                {key: names[key] for key in case.path_parameters if key in names}
            )
        response = case.call(timeout=30)
        assert response.status_code < 500, (operation.label, response.text)

    send()
