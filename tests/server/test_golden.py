from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.conftest import Client, Process, start_server

SAMPLES = Path(__file__).parents[1] / "samples"
DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("golden-server")
    (folder / "golden").mkdir()
    shutil.copy(SAMPLES / "adk" / "returns.json", folder / "golden")
    started = start_server(folder)
    yield started
    assert started.stop() == 0


@pytest.fixture
def api(served: Process) -> Client:
    return served.client


def post(api: Client, path: str, body: object, **headers: str) -> tuple[int, dict[str, object]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = api.ask("POST", path, json.dumps(body).encode(), {**JSON, **named})
    return answer.status, answer.json()


def wait_for(api: Client, job: str) -> dict[str, object]:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        state = api.get(f"/api/jobs/{job}").json()
        if state["state"] in ("done", "failed", "cancelled"):
            return state
        time.sleep(0.05)
    raise AssertionError("the run did not end")


def test_file_comes_back_byte_for_byte(api: Client):
    assert api.upload("/api/datasets", SAMPLES / "csv" / "faq.csv").status == 201
    assert api.get("/api/datasets/faq/file").body == (SAMPLES / "csv" / "faq.csv").read_bytes()
    assert api.upload("/api/datasets", SAMPLES / "csv" / "faq.csv").status == 409
    assert api.ask("DELETE", "/api/datasets/faq").status == 204
    assert api.get("/api/datasets/faq").status == 404


def test_case_is_edited_only_in_the_state_that_was_seen(api: Client):
    page = api.get("/api/datasets/garden_returns/cases?limit=1").json()
    case = page["items"][0]["case"]
    path = f"/api/datasets/garden_returns/cases/{case['id']}"
    etag = api.get(path).headers["etag"]
    case["tags"] = ["edited"]
    body = json.dumps(case).encode()
    assert api.ask("PUT", path, body, JSON).status == 428
    assert api.ask("PUT", path, body, {**JSON, "If-None-Match": "*"}).status == 412
    answer = api.ask("PUT", path, body, {**JSON, "If-Match": etag})
    assert answer.status == 200, answer.body
    assert answer.json()["case"]["tags"] == ["edited"]
    assert api.ask("PUT", path, body, {**JSON, "If-Match": etag}).status == 412
    assert api.ask("DELETE", path, headers={"If-Match": etag}).status == 412


def test_empty_if_match_does_not_overwrite_any_state(api: Client):
    """A client that has no `ETag` has seen nothing, and must not lose what others wrote."""
    page = api.get("/api/datasets/garden_returns/cases?limit=1").json()
    case = page["items"][0]["case"]
    path = f"/api/datasets/garden_returns/cases/{case['id']}"
    body = json.dumps({**case, "tags": ["lost"]}).encode()
    empty = {"If-Match": ""}
    assert api.ask("PUT", path, body, {**JSON, **empty}).status == 400
    assert api.ask("DELETE", path, headers=empty).status == 400
    assert post(api, "/api/datasets/garden_returns/release", {"by": "Mara"}, If_Match="")[0] == 400
    assert api.get(path).json()["case"] == case
    any_state = api.ask("PUT", path, json.dumps(case).encode(), {**JSON, "If-Match": "*"})
    assert any_state.status == 200


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ('"tool_cals": []', "$"),
        ('"turns": [{"user": "Hi", "respones": "Hello"}]', "$.turns[0]"),
        ('"turns": [{"tool_calls": [{"name": "f", "arg": {}}]}]', "$.turns[0].tool_calls[0]"),
    ],
)
def test_misspelled_expectation_is_an_error(api: Client, part: str, place: str):
    """Ignored, it would expect nothing, and every answer would pass."""
    body = f'{{"id": "new", {part}}}'.encode()
    path = "/api/datasets/garden_returns/cases/new"
    answer = api.ask("PUT", path, body, {**JSON, "If-None-Match": "*"})
    assert answer.status == 400, answer.body
    assert "unknown field" in answer.json()["detail"]
    assert answer.json()["problems"][0]["where"] == place
    assert api.get(path).status == 404


def test_case_with_a_reserved_key_does_not_break_the_dataset(api: Client):
    golden = {"golden_questions": [{"id": "a", "user_inputs": ["Hi"], "agents_evaluated": ["b"]}]}
    golden["golden_questions"][0]["reference_data"] = {"expected_response": "Hello"}  # pyright: ignore[reportArgumentType]
    sent = {**JSON, "X-File-Name": "reserved_golden.json"}
    assert api.ask("POST", "/api/datasets", json.dumps(golden).encode(), sent).status == 201
    path = "/api/datasets/reserved_golden/cases/new"
    case = {"id": "new", "turns": [{"user": "Hi"}], "metadata": {"carob": "x", "k": 1}}
    answer = api.ask("PUT", path, json.dumps(case).encode(), {**JSON, "If-None-Match": "*"})
    assert answer.status == 201, answer.body
    assert api.get(path).json()["case"]["metadata"] == {"carob": "x", "k": 1}
    assert api.ask("DELETE", "/api/datasets/reserved_golden").status == 204


def test_review_is_of_the_state_that_was_seen(api: Client):
    page = api.get("/api/datasets/garden_returns/cases?limit=1").json()
    path = f"/api/datasets/garden_returns/cases/{page['items'][0]['case']['id']}"
    etag = api.get(path).headers["etag"]
    body = json.dumps({"status": "reviewed", "by": "Ida"}).encode()
    stale = api.ask("PUT", f"{path}/review", body, {**JSON, "If-Match": '"sha256:0"'})
    assert (stale.status, api.get(path).json()["review"]) == (412, page["items"][0]["review"])
    assert api.ask("PUT", f"{path}/review", body, {**JSON, "If-Match": etag}).status == 200
    assert api.get(path).json()["review"] == "reviewed"


def test_draft_is_released_in_the_state_that_was_seen(api: Client):
    path = "/api/datasets/garden_returns"
    etag = api.get(f"{path}/draft").headers["etag"]
    status, _ = post(api, f"{path}/release", {"by": "Mara"}, If_Match='"sha256:0"')
    assert status == 412
    status, release = post(api, f"{path}/release", {"by": "Mara"}, If_Match=etag)
    assert (status, release["version"]) == (201, "1.0.0")
    assert [item["version"] for item in api.get(f"{path}/versions").json()["items"]] == ["1.0.0"]
    assert api.get(f"{path}/draft").json()["next_version"] is None


def test_run_is_made_in_the_background_once_for_each_key(api: Client):
    golden = next(DEMO.rglob("*.evalset.json"))
    traces = next(DEMO.rglob("good.otlp.jsonl"))
    name = api.upload("/api/datasets", golden).json()["name"]
    upload = api.upload("/api/traces", traces).json()["upload"]["id"]
    body = {"dataset": name, "traces": [upload], "metrics": ["tool_trajectory_avg_score"]}
    status, job = post(api, "/api/runs", body, Idempotency_Key="k-1")
    assert status == 202, job
    assert post(api, "/api/runs", body, Idempotency_Key="k-1")[1]["id"] == job["id"]
    assert post(api, "/api/runs", {**body, "metrics": []}, Idempotency_Key="k-1")[0] == 409
    state = wait_for(api, str(job["id"]))
    assert state["state"] == "done", state
    run = api.get(f"/api/runs/{state['run']}").json()
    assert run["dataset"]["name"] == name
    for form in ("html", "md", "json", "csv", "txt", "junit.xml", "sarif"):
        assert api.get(f"/api/runs/{state['run']}/report.{form}").status == 200, form
    events = api.get(f"/api/runs/{job['id']}/events").body
    assert b'"state":"done"' in events
    rescore = f"/api/runs/{state['run']}/rescore"
    status, again = post(api, rescore, {"dataset": name})
    assert status == 202
    assert wait_for(api, str(again["id"]))["state"] == "done"
    for others in ({"traces": [upload]}, {"sessions": ["talk-1"]}):
        assert post(api, rescore, {"dataset": name, **others})[0] == 400


@pytest.mark.parametrize(
    "request_",
    [
        {"metrics": ["/etc/passwd.toml"]},
        {"metrics": ["../../rubric.yaml"]},
        {"profile": "/etc/profile.toml"},
        {"traces": ["../../../etc/passwd"]},
        {"traces": ["/etc/passwd"]},
        {"dataset": "/etc/passwd"},
        {"dataset": "../golden/returns.json"},
        {"judge": {"url": "http://127.0.0.1:1", "key_env": "HOME"}},
        {"config": "/etc/carob.toml"},
        {"params": {"semantic_similarity.model": "/etc"}},
        {"evaluator": {"path": "/srv/evil.py"}},
    ],
)
def test_nothing_that_a_request_names_is_opened(api: Client, request_: dict[str, object]):
    status, answer = post(api, "/api/runs", {"dataset": "garden_returns", **request_})
    assert status in (400, 404), answer
    assert "root:" not in json.dumps(answer)


def test_broken_dataset_is_listed_without_the_folder_that_it_is_in(served: Process):
    folder = Path(f"/proc/{served.process.pid}/cwd").readlink()
    broken = folder / "golden" / "broken.json"
    broken.write_text('{"eval_set_id": "broken", "eval_cases": [{"eval_id": 1}]}')
    try:
        answer = served.client.get("/api/datasets/broken")
    finally:
        broken.unlink()
    (problem,) = answer.json()["problems"]
    assert problem["where"] == "broken.json line 1 $.eval_cases[0].eval_id"


def test_label_filter_without_a_value_is_an_error(api: Client):
    assert api.get("/api/runs?label=branch").status == 400
    assert api.get("/api/runs?label=branch%3Dmain").status == 200


def test_token_is_shown_once(api: Client):
    status, made = post(api, "/api/tokens", {"name": "ci", "roles": ["read"]})
    assert (status, str(made["token"])[:6]) == (201, "carob_")
    assert str(made["token"]) not in api.get("/api/tokens").body.decode()
    assert api.ask("DELETE", "/api/tokens/ci").status == 204
    assert api.ask("DELETE", "/api/tokens/ci").status == 404


def test_release_and_converted_file_can_be_downloaded(api: Client):
    path = "/api/datasets/garden_returns"
    released = api.get(f"{path}/file?version=1.0.0")
    assert (released.status, json.loads(released.body)["eval_set_id"]) == (200, "garden_returns")
    table = api.get(f"{path}/file?format=csv")
    assert table.headers["content-disposition"] == 'attachment; filename="returns.csv"'
    assert table.body.startswith(b"question") or b"," in table.body.splitlines()[0]
    assert api.get(f"{path}/versions/1").json()["version"] == "1.0.0"
    assert api.get(f"{path}/versions/7.0.0").status == 404
    assert api.get(f"{path}/diff?from=1.0.0").json() == {"bump": "none", "changes": []}


def test_case_is_approved_by_its_id(api: Client):
    path = "/api/datasets/garden_returns/cases"
    case = api.get(f"{path}?limit=1").json()["items"][0]["case"]["id"]
    body = json.dumps({"status": "approved", "by": "Mara"}).encode()
    assert api.ask("PUT", f"{path}/{case}/review", body, JSON).json()["review"] == "approved"
    listed = api.get(f"{path}?review=approved").json()["items"]
    assert [item["case"]["id"] for item in listed] == [case]
    assert api.ask("PUT", f"{path}/1/review", body, JSON).status == 404


def test_answers_are_labelled_and_agreement_is_shown(api: Client):
    run = api.get("/api/runs").json()["items"][0]["id"]
    metric = "tool_trajectory_avg_score"
    status, queue = post(api, "/api/queues", {"run": run, "metric": metric})
    assert (status, queue["labelled"]) == (201, 0)
    path = f"/api/queues/{queue['id']}"
    item = api.get(f"{path}/next?by=Mara").json()
    assert item["score"] is None
    body = json.dumps({"label": "passed", "by": "Mara"}).encode()
    answer = api.ask("PUT", f"{path}/items/{item['id']}/label", body, JSON)
    assert (answer.status, answer.json()["labelled"]) == (200, 1)
    assert api.get(f"{path}/items/{item['id']}?by=Mara").json()["score"]["metric"] == metric
    assert api.get(f"{path}/items/{item['id']}?by=Tom").json()["score"] is None
    (label,) = api.get(f"{path}/labels").json()["labels"]
    assert (label["case"], label["label"], label["by"]) == (item["case"], "passed", "Mara")
    assert post(api, f"{path}/calibration", {})[0] == 201
    taken_back = api.ask("DELETE", f"{path}/items/{item['id']}/label?by=Mara")
    assert taken_back.json()["labelled"] == 0


def test_rows_of_a_run_are_compact(api: Client):
    run = api.get("/api/runs").json()["items"][0]
    index = api.get(f"/api/runs/{run['id']}/index").json()
    assert len(index["rows"]) == run["cases"]["total"]
    assert len(index["rows"][0]) == len(index["columns"])


def test_cancelled_run_is_not_made(api: Client):
    dataset = {"dataset": "garden_returns", "metrics": ["tool_trajectory_avg_score"]}
    upload = api.get("/api/traces").json()["items"][0]["id"]
    jobs = [post(api, "/api/runs", {**dataset, "traces": [upload]})[1]["id"] for _ in range(8)]
    before = len(api.get("/api/runs").json()["items"])
    cancelled = post(api, f"/api/runs/{jobs[-1]}/cancel", {})
    assert cancelled[0] == 200
    over = wait_for(api, str(jobs[-1]))
    assert (over["state"], over["verdict"], over["run"]) == ("cancelled", "inconclusive", None)
    assert post(api, f"/api/runs/{jobs[-1]}/cancel", {})[1]["state"] == "cancelled"
    assert post(api, "/api/runs/nothing/cancel", {})[0] == 404
    states = [wait_for(api, str(job))["state"] for job in jobs[:-1]]
    assert len(api.get("/api/runs?limit=100").json()["items"]) <= before + states.count("done")
