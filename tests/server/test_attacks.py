"""What works against other evaluation servers must not work here: running files, reading the
environment, opening paths and addresses of a request, exhausting memory."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import shutil
import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.server.conftest import Answer, Client, Process, start_server

DEMO = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
JSON = {"Content-Type": "application/json"}
SECRET = "swordfish-4711"  # noqa: S105 - what an attacker wants to see


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    folder = tmp_path_factory.mktemp("attacked")
    (folder / "golden").mkdir()
    shutil.copy(DEMO / "support.evalset.json", folder / "golden")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "secret.json").write_text(json.dumps({"eval_set_id": SECRET, "eval_cases": []}))
    (folder / "evil.py").write_text("open('owned', 'w').close()")
    os.environ["CAROB_TEST_SECRET"] = SECRET
    try:
        started = start_server(folder)
    finally:
        del os.environ["CAROB_TEST_SECRET"]
    yield started
    assert started.stop() == 0
    assert not (folder / "owned").exists()


@pytest.fixture
def api(served: Process) -> Client:
    return served.client


@pytest.fixture
def trap() -> Iterator[tuple[str, list[bytes]]]:
    """An address that nobody should ask, and what was sent to it."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        done = threading.Event()

        def listen() -> None:
            while not done.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                with connection:
                    received.append(connection.recv(1000))

        thread = threading.Thread(target=listen)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", received
        done.set()
        thread.join()


def post(api: Client, path: str, body: object) -> Answer:
    return api.ask("POST", path, json.dumps(body).encode(), JSON)


PATHS = [
    "/etc/passwd",
    "../secret.txt",
    "golden/../secret.json",
    "secret.json",
    "evil.py",
    "file:///etc/passwd",
    "python:evil.py",
    "evil:main",
    "evil.py:main",
    "agentevals:evil.py",
    "lines:python3 evil.py",
    "$CAROB_TEST_SECRET",
    "~/.ssh/id_rsa",
    "\0",
]


@pytest.mark.parametrize("name", PATHS)
def test_names_are_looked_up_and_never_opened(api: Client, name: str):
    part = quote(name, safe="")
    answers = [
        post(api, "/api/runs", {"dataset": name}),
        post(api, "/api/runs", {"dataset": "bike_shop_support", "metrics": [name]}),
        post(api, "/api/runs", {"dataset": "bike_shop_support", "profile": name}),
        post(api, "/api/runs", {"dataset": "bike_shop_support", "traces": [name]}),
        post(api, "/api/runs", {"dataset": "bike_shop_support", "sessions": [name]}),
        post(api, "/api/gate", {"run": name}),
        post(api, "/api/gate", {"run": "latest", "baseline": name}),
        post(api, "/api/queues", {"run": name, "metric": "tone"}),
        post(api, f"/api/sessions/{part}/golden", {"dataset": "bike_shop_support"}),
        api.get(f"/api/datasets/{part}"),
        api.get(f"/api/datasets/{part}/file"),
        api.get(f"/api/datasets/{part}/versions/1"),
        api.get(f"/api/datasets/bike_shop_support/versions/{part}"),
        api.get(f"/api/datasets/bike_shop_support/file?version={part}"),
        api.get(f"/api/traces/{part}"),
        api.get(f"/api/traces/{part}/file"),
        api.get(f"/api/runs/{part}"),
        api.get(f"/api/runs/{part}/report.html"),
        api.get(f"/api/compare?base={part}&run=latest"),
        api.get(f"/api/formats/{part}"),
        api.get(f"/static/{part}"),
        api.get(f"/{part}"),
    ]
    assert not [answer for answer in answers if not 400 <= answer.status < 500]
    assert not [
        answer for answer in answers if SECRET in answer.body.decode() or b"root:" in answer.body
    ]


@pytest.mark.parametrize(
    "field",
    [
        {"judge": {"model": "openai:gpt-5", "url": "http://127.0.0.1:9"}},
        {"judge": "openai:gpt-5"},
        {"config": "carob.toml"},
        {"key_env": "CAROB_TEST_SECRET"},
        {"params": {"contract.contracts": "/etc"}},
        {"evaluators": [{"type": "code", "path": "evil.py"}]},
        {"contracts": "/etc"},
        {"golden": "secret.json"},
    ],
)
def test_run_takes_no_address_key_file_or_code(api: Client, field: dict[str, Any]):
    answer = post(api, "/api/runs", {"dataset": "bike_shop_support", **field})
    assert answer.status == 400
    assert "unknown field" in answer.json()["detail"]


@pytest.mark.parametrize(
    "where",
    [
        "__import__('os').system('touch owned')",
        "().__class__.__bases__[0].__subclasses__()",
        "open('secret.txt').read()",
        "(lambda: 1)()",
        "9**9**9**9",
        "'a' * 10**12 == 'b'",
        "[x for x in turns for y in turns for z in turns]",
    ],
)
def test_filter_is_no_code(api: Client, where: str):
    answer = api.get(f"/api/datasets/bike_shop_support/cases?where={quote(where, safe='')}")
    assert answer.status in (400, 422), answer.body
    started = post(api, "/api/runs", {"dataset": "bike_shop_support", "where": where})
    assert started.status in (400, 422), started.body


def _send(api: Client, path: str, name: str, data: bytes) -> Answer:
    return api.ask("POST", path, data, {"X-File-Name": name})


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.json",
        "/tmp/evil.json",  # noqa: S108 - where the attack aims
        "..\\evil.json",
        ".hidden.json",
        "a\0b.json",
        "x" * 5000,
    ],
)
def test_uploaded_file_stays_in_its_folder(api: Client, served: Process, name: str):
    document = (DEMO / "support.evalset.json").read_bytes().replace(b"bike_shop_support", b"other")
    boundary = b"b0undary"
    form = (
        b"--"
        + boundary
        + b'\r\nContent-Disposition: form-data; name="file"; filename="'
        + name.encode()
        + b'"\r\n\r\n'
        + document
        + b"\r\n--"
        + boundary
        + b"--\r\n"
    )
    kind = {"Content-Type": "multipart/form-data; boundary=b0undary"}
    answer = api.ask("POST", "/api/datasets", form, kind)
    folder = Path(f"/proc/{served.process.pid}/cwd").readlink()
    assert not Path("/tmp/evil.json").exists()  # noqa: S108 - where the attack aims
    assert not (folder / "evil.json").exists()
    assert not (folder.parent / "evil.json").exists()
    if answer.status == 201:
        stored = folder / "golden" / answer.json()["file"]
        assert stored.is_file()
        assert api.ask("DELETE", "/api/datasets/other").status == 204


@pytest.mark.parametrize("name", ["faq.csv.carob.json", "carob.toml", "registry", "x.py", "x.db"])
def test_upload_cannot_take_the_place_of_other_files(api: Client, name: str):
    document = (DEMO / "support.evalset.json").read_bytes().replace(b"bike_shop_support", b"other")
    answer = _send(api, "/api/datasets", name, document)
    assert 400 <= answer.status < 500, answer.body


def test_schemas_in_golden_data_fetch_nothing(
    api: Client, trap: tuple[str, list[bytes]], tmp_path: Path
):
    address, received = trap
    rows = [
        {
            "id": "a",
            "query": "Is it open?",
            "expected_output": "Until six.",
            "contract": {"$ref": reference},
            "rubric": f"{address}/rubric",
            "image": f"{address}/x.png",
        }
        for reference in (f"{address}/schema.json", "file:///etc/passwd", "../secret.json")
    ]
    for name, document in {
        "x.json": {"name": "x", "examples": rows},
        "p.json": {
            "tests": [
                {
                    "vars": {"q": f"file://{address}"},
                    "assert": [{"type": "python", "value": "file://evil.py"}],
                }
            ],
            "prompts": ["file://secret.txt"],
        },
    }.items():
        for path in ("/api/validate", "/api/show", "/api/lint", "/api/convert?to=adk"):
            answer = _send(api, path, name, json.dumps(document).encode())
            assert answer.status < 500
            assert SECRET not in answer.body.decode()
    assert received == []


def _workbook_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("[Content_Types].xml", b" " * (200 << 20))
    return buffer.getvalue()


def _yaml_bomb() -> bytes:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join(f'*a{n - 1}' for _ in range(10))}]" for n in range(1, 12)]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("deep.json", b"[" * 200_000),
        ("deep.json", b'{"a":' * 200_000),
        ("bomb.json.gz", gzip.compress(b" " * (600 << 20), 1)),
        ("bomb.xlsx", _workbook_bomb()),
        ("bomb.yaml", _yaml_bomb()),
        ("entities.xml", b'<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'),
        ("number.json", b'{"eval_set_id": ' + b"9" * 100_000 + b"}"),
        ("pickle.json", b"cos\nsystem\n(S'touch owned'\ntR."),
        ("utf.csv", b"\xff\xfe" + b"\x00\xd8" * 1000),
    ],
)
def test_hostile_files_are_refused(api: Client, served: Process, name: str, data: bytes):
    for path in ("/api/validate", "/api/show", "/api/lint", "/api/datasets", "/api/traces"):
        answer = _send(api, path, name, data)
        assert answer.status < 500, (path, answer.body)
        assert b"root:" not in answer.body
        if path != "/api/validate":
            assert answer.status >= 400, path
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    peak = int(status.partition("VmHWM:")[2].split()[0])
    assert peak < 900_000, f"{peak} kB"


def test_headers_are_limited(api: Client):
    host, port = api.host.split(":")
    with socket.create_connection((host, int(port)), timeout=10) as connection:
        connection.sendall(f"GET /api/version HTTP/1.1\r\nHost: {api.host}\r\n".encode())
        try:
            for number in range(5_000):
                connection.sendall(f"x-{number}: {'a' * 1000}\r\n".encode())
            connection.sendall(b"\r\n")
            answer = connection.recv(1000)
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
    assert not answer.startswith(b"HTTP/1.1 200")


def test_errors_do_not_show_where_files_are(api: Client, served: Process):
    folder = str(Path(f"/proc/{served.process.pid}/cwd").readlink())
    answers = [
        _send(api, "/api/show", "x.json", b"{"),
        _send(api, "/api/validate", "x.json", b"{"),
        post(api, "/api/runs", {"dataset": "nothing"}),
        api.get("/api/runs/nothing"),
        api.get("/api/config"),
    ]
    for answer in answers:
        assert folder not in answer.body.decode()
        assert "/tmp/" not in answer.body.decode()  # noqa: S108 - of uploads


def test_errors_do_not_show_where_the_store_is(tmp_path: Path):
    store = tmp_path / "hidden" / "runs.db"
    started = start_server(tmp_path, "--store", str(store))
    try:
        for path in ("/api/runs/nothing", "/api/sessions/nothing", "/api/compare?base=a&run=b"):
            answer = started.client.get(path)
            assert answer.status == 404
            assert "hidden" not in answer.body.decode()
            assert answer.json()["problems"][0]["where"] == "store"
    finally:
        assert started.stop() == 0


def _send_head(api: Client, *lines: str) -> bytes:
    """Send a request as it is, and return the first line of the answer."""
    host, _, port = api.host.rpartition(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall("\r\n".join((*lines, "Connection: close", "", "")).encode())
        with connection.makefile("rb") as answer:
            return answer.readline()


def test_two_hosts_are_refused(api: Client):
    """A proxy may have looked at the other one."""
    own, other = f"Host: {api.host}", "Host: evil.example"
    assert b" 200 " in _send_head(api, "GET /api/health HTTP/1.1", own)
    for hosts in ((own, other), (other, own)):
        assert b" 400 " in _send_head(api, "GET /api/health HTTP/1.1", *hosts)


def test_lengths_that_contradict_each_other_are_refused(api: Client):
    """Whoever reads two requests where a proxy read one takes orders from its clients."""
    head = ("POST /api/gate HTTP/1.1", f"Host: {api.host}", "Content-Length: 4")
    for line in ("Content-Length: 5", "Transfer-Encoding: chunked"):
        assert b" 400 " in _send_head(api, *head, line)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/runs"),
        ("POST", "/api/runs/latest/rescore"),
        ("POST", "/api/datasets/shop/release"),
        ("PUT", "/api/datasets/shop/cases/a"),
        ("DELETE", "/api/datasets/shop/cases/a"),
    ],
)
def test_unknown_parameter_is_an_error_where_headers_matter_too(
    api: Client, method: str, path: str
):
    body = {"dataset": "shop"} if "runs" in path else {"id": "a"} if method == "PUT" else {}
    answer = api.ask(method, f"{path}?dry=1", json.dumps(body).encode(), JSON)
    assert (answer.status, answer.json()["detail"]) == (400, "unknown parameter 'dry'")


def test_upload_that_does_not_fit_is_told_so(tmp_path: Path):
    started = start_server(tmp_path)
    try:
        hard = resource.RLIM_INFINITY
        resource.prlimit(started.process.pid, resource.RLIMIT_FSIZE, (1 << 20, hard))
        answer = started.client.ask("POST", "/api/validate", b"x" * (2 << 20))
        assert (answer.status, answer.json()["title"]) == (507, "Insufficient Storage")
        assert str(tmp_path) not in answer.body.decode()
        resource.prlimit(started.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        assert started.client.ask("POST", "/api/validate", b"x" * (2 << 20)).status == 200
    finally:
        assert started.stop() == 0
