from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from carob.cli import carob
from tests.server.conftest import Client

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "samples"


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


def test_curl_of_the_documentation_works_as_printed(client: Client, tmp_path: Path):
    document = (SAMPLES / "adk" / "returns.json").read_bytes()
    (tmp_path / "eval_set.json").write_bytes(document)
    port = client.host.rpartition(":")[2]
    command = f"curl -s -X POST http://localhost:{port}/api/validate/eval-set"
    arguments = [*command.split(), "-F", "eval_set_file=@eval_set.json"]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=True)
    assert json.loads(done.stdout)["data"]["numCases"] == 2


@pytest.mark.parametrize("name", ["adk/returns.json", "broken/not-json.json"])
def test_clients_of_agentevals_understand_the_answer(client: Client, name: str):
    """Parsed by agentevals' own models, the answer says what agentevals itself would say."""
    python = Path(os.environ.get("CAROB_PEERS", ROOT / ".peers/bin/python"))
    answer = client.upload("/api/validate/eval-set", SAMPLES / name, field="eval_set_file")
    script = ROOT / "tests" / "oracle" / "eval_set_validation.py"
    command = [str(python), "-W", "ignore", str(script), str(SAMPLES / name)]
    environment = {**os.environ, "PYTHONPATH": ""}
    done = subprocess.run(
        command, input=answer.body, capture_output=True, check=True, env=environment
    )
    said = json.loads(done.stdout.splitlines()[-1])
    assert said["ours"][:2] == said["theirs"][:2]
    assert (said["ours"][2] or None) == said["theirs"][2]
