from __future__ import annotations

import http.client

import pytest

from carob.server.security import LoginSessions
from tests.server.conftest import Client


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil:80"])
def test_foreign_host_is_refused(client: Client, host: str):
    answer = client.ask("GET", "/api/version", headers={"Host": host})
    assert (answer.status, answer.json()["detail"]) == (421, f"this server is not {host!r}")


def test_names_of_loopback_are_accepted(client: Client):
    port = client.host.rpartition(":")[2]
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
        assert client.ask("GET", "/api/version", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_others_cannot_change_anything(client: Client, headers: dict[str, str]):
    answer = client.ask("POST", "/api/show", b"{}", headers)
    assert (answer.status, answer.json()["title"]) == (403, "Forbidden")


def test_own_pages_and_programs_can(client: Client):
    own = {"Origin": client.address, "Sec-Fetch-Site": "same-origin"}
    assert client.ask("POST", "/api/show", b"{}", own).status == 422
    assert client.ask("POST", "/api/show", b"{}").status == 422


def test_every_response_has_the_security_headers(client: Client):
    answers = [
        client.get("/api/version"),
        client.get("/nothing"),
        client.ask("GET", "/api/version", headers={"Host": "evil.example"}),
    ]
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


def test_body_that_says_it_is_too_large_is_not_read(client: Client):
    connection = http.client.HTTPConnection(client.host, timeout=10)
    connection.putrequest("POST", "/api/show")
    connection.putheader("Content-Length", str(2**40))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


def test_login_session_knows_its_token_until_it_ends():
    sessions = LoginSessions()
    session = sessions.start("carob_token")
    assert sessions.token(session) == "carob_token"
    assert sessions.token("") is sessions.token(session + "x") is None
    sessions.end(session)
    assert sessions.token(session) is None


def test_refused_method_names_all_methods_of_the_address(client: Client):
    answer = client.ask("PUT", "/api/runs")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD, POST")
