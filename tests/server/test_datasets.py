from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from carob.cli import carob
from tests.server.conftest import Client

SAMPLES = Path(__file__).parents[1] / "samples"


def test_eval_set_is_validated_as_the_clients_of_agentevals_ask(client: Client):
    answer = client.upload(
        "/api/validate/eval-set", SAMPLES / "adk" / "returns.json", field="eval_set_file"
    )
    assert answer.status == 200
    assert answer.json() == {
        "data": {
            "valid": True,
            "evalSetId": "garden_returns",
            "numCases": 2,
            "errors": [],
            "format": "adk",
            "problems": [],
        },
        "error": None,
    }


def test_broken_eval_set_is_an_answer_and_not_an_error(client: Client):
    path = SAMPLES / "broken" / "not-json.json"
    answer = client.upload("/api/validate/eval-set", path, field="eval_set_file")
    data = answer.json()["data"]
    assert (answer.status, data["valid"], data["evalSetId"]) == (200, False, None)
    assert data["errors"] == ["not valid JSON: invalid character"]


def test_command_line_and_rest_give_the_same_document(
    client: Client, monkeypatch: pytest.MonkeyPatch
):
    for name in ("adk/returns.json", "csv/faq.csv", "broken/cells.csv"):
        path = SAMPLES / name
        monkeypatch.chdir(path.parent)
        for command in ("validate", "show", "lint"):
            result = CliRunner().invoke(carob, [command, path.name, "--format", "json"])
            answer = client.upload(f"/api/{command}", path)
            if answer.status == 200:
                assert answer.json() == json.loads(result.stdout), command
            else:
                assert answer.json()["detail"] == str(getattr(result.exception, "message", None))


def test_path_of_the_upload_stays_on_the_server(client: Client):
    answer = client.upload("/api/show", SAMPLES / "broken" / "not-json.json")
    assert answer.status == 422
    assert answer.json()["problems"][0]["where"].startswith("not-json.json")
    assert b"/tmp" not in answer.body
    assert b"carob-" not in answer.body


def test_file_name_of_the_client_is_never_a_path(client: Client):
    body = (SAMPLES / "csv" / "faq.csv").read_bytes()
    headers = {"X-File-Name": "../../../etc/cron.d/faq.csv"}
    answer = client.ask("POST", "/api/show", body, headers)
    assert (answer.status, answer.json()["name"]) == (200, "faq")
