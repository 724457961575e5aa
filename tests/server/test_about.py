from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from carob import __version__
from carob.cli import carob
from tests.server.conftest import Client, Process, start_server


def cli(*args: str) -> str:
    result = CliRunner().invoke(carob, args)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_server_says_its_version_and_where_it_is(client: Client):
    assert client.get("/api/version").json() == {"version": __version__}
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/config").json()["addresses"]["pages"] == client.address


def test_metrics_and_formats_are_those_of_the_command_line(client: Client):
    assert client.get("/api/metrics").json() == json.loads(cli("metrics", "--format", "json"))
    assert client.get("/api/formats/adk").json() == json.loads(cli("schema", "adk"))


def test_unknown_names_are_problems_with_a_hint(client: Client):
    answer = client.get("/api/formats/adkk")
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    assert "adk" in answer.json()["hint"]


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/api/metrics?limt=9", 400, "unknown parameter 'limt'"),
        ("POST", "/api/show?formt=adk", 400, "Object contains unknown field `formt`"),
        ("POST", "/api/show?format=adk&format=csv", 400, "parameter 'format' is given 2 times"),
        ("POST", "/api/show", 400, "the body is empty"),
        ("GET", "/api/nothing", 404, "no such address: /api/nothing"),
        ("DELETE", "/api/metrics", 405, "Method Not Allowed"),
    ],
)
def test_wrong_requests_are_named(client: Client, method: str, path: str, status: int, detail: str):
    answer = client.ask(method, path, b"" if path == "/api/show" else b"{}")
    assert (answer.status, answer.json()["detail"]) == (status, detail)
    assert answer.json()["status"] == status


def test_openapi_describes_every_route(client: Client):
    document = client.get("/api/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    operations = [
        operation for methods in document["paths"].values() for operation in methods.values()
    ]
    assert all(operation["summary"].endswith(".") for operation in operations)
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names))
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_all_receivers_are_among_the_addresses(server: Process):
    assert server.client.get("/api/config").json()["addresses"] == {
        name: server.addresses[name] for name in ("pages", "otlp", "grpc")
    }


def test_rules_and_their_problems_are_shown(tmp_path: Path):
    (tmp_path / "carob.toml").write_text(
        "[serve]\nkeep_days = 7\n[online.ok]\nmetrics = ['pii_leak']\nsample = 0.5\n"
        "[online.bad]\nmetrics = ['pii_leek']\n"
    )
    started = start_server(tmp_path)
    online = started.client.get("/api/online").json()
    assert started.stop() == 0
    assert (online["keep_days"], online["keep_gb"]) == (7, 10)
    problems = {rule["name"]: rule["problem"] for rule in online["rules"]}
    assert problems["ok"] is None
    assert "unknown metric 'pii_leek'" in problems["bad"]
    assert "rule bad does not work" in started.addresses["warning:"]
