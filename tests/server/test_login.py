"""A browser exchanges a token for a cookie, and forms are accepted from our own pages only."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from carob.api.serving.tokens import new_token, remove_token
from tests.server.conftest import Answer, Client, start_server

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Browser:
    """Sends what a browser sends: the cookie, and the page that a form is on."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.cookie = ""

    def get(self, path: str) -> Answer:
        return self._client.ask("GET", path, headers={"Cookie": self.cookie})

    def submit(self, path: str, **fields: str) -> Answer:
        headers = {**FORM, "Cookie": self.cookie, "Origin": self._client.address}
        answer = self._client.ask("POST", path, urlencode(fields).encode(), headers)
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def form_token(self, path: str = "/login") -> str:
        found = re.search(r'name="form_token" value="(\w+)"', self.get(path).body.decode())
        assert found
        return found[1]


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, str, Path]]:
    folder = tmp_path_factory.mktemp("login")
    token = new_token(str(folder / "runs.db"), "mara", ["read"]).token
    args = ("--require-token", "--store", str(folder / "runs.db"))
    started = start_server(folder, *args, "--allow-host", "carob.example")
    yield started.client, token, folder
    assert started.stop() == 0


def test_token_opens_pages_after_login(guarded: tuple[Client, str, Path]):
    client, token, _ = guarded
    browser = Browser(client)
    assert b'href="/login?next=/runs"' in browser.get("/runs").body
    assert browser.get("/runs").status == 401
    answer = browser.submit("/login", token=token, form_token=browser.form_token())
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert token not in cookie
    assert browser.get("/runs").status == 200
    assert browser.submit("/logout", form_token=browser.form_token()).status == 303
    assert browser.get("/runs").status == 401


@pytest.mark.parametrize(
    ("following", "lands"),
    [
        ("/runs?verdict=failed", "/runs?verdict=failed"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("https://elsewhere.example/", "/"),
        ("/runs\r\nSet-Cookie: a=b", "/"),
    ],
)
def test_login_leads_back_to_the_page_that_was_asked_for(
    following: str, lands: str, guarded: tuple[Client, str, Path]
):
    client, token, _ = guarded
    browser = Browser(client)
    fields = {"token": token, "next": following, "form_token": browser.form_token()}
    assert browser.submit("/login", **fields).headers["location"] == lands


def test_error_page_has_the_theme_that_was_chosen(guarded: tuple[Client, str, Path]):
    answer = guarded[0].ask("GET", "/runs", headers={"Cookie": "carob_theme=dark"})
    assert (answer.status, b'data-theme="dark"' in answer.body) == (401, True)


def test_removed_token_ends_its_logins(guarded: tuple[Client, str, Path]):
    client, _, folder = guarded
    store = str(folder / "runs.db")
    token = new_token(store, "leaving", ["read"]).token
    time.sleep(1.1)  # the server's copy of the tokens is at most a second old
    browser = Browser(client)
    browser.submit("/login", token=token, form_token=browser.form_token())
    assert browser.get("/runs").status == 200
    remove_token(store, "leaving")
    time.sleep(1.1)
    assert browser.get("/runs").status == 401


def test_unknown_token_does_not_log_in(guarded: tuple[Client, str, Path]):
    browser = Browser(guarded[0])
    answer = browser.submit("/login", token="carob_" + "x", form_token=browser.form_token())
    assert (answer.status, "set-cookie" in answer.headers) == (401, False)


def test_form_without_its_token_is_refused(guarded: tuple[Client, str, Path]):
    client, token, _ = guarded
    browser = Browser(client)
    assert browser.submit("/login", token=token).status == 403
    assert browser.submit("/login", token=token, form_token="0" * 64).status == 403
    before = browser.form_token()
    browser.submit("/login", token=token, form_token=before)
    assert browser.submit("/logout", form_token=before).status == 403  # it is of another login


def test_cookie_alone_changes_nothing(guarded: tuple[Client, str, Path]):
    client, token, _ = guarded
    browser = Browser(client)
    browser.submit("/login", token=token, form_token=browser.form_token())
    headers = {"Cookie": browser.cookie, "Content-Type": "application/json"}
    assert client.ask("POST", "/api/gate", b"{}", headers).status == 403
    assert (
        client.ask("POST", "/api/gate", b"{}", {**headers, "Origin": client.address}).status == 400
    )


def test_cookie_is_secure_behind_a_proxy_with_tls(guarded: tuple[Client, str, Path]):
    client, token, _ = guarded
    form_token = Browser(client).form_token()
    body = urlencode({"token": token, "form_token": form_token}).encode()
    headers = {**FORM, "Host": "carob.example", "Origin": "https://carob.example"}
    answer = client.ask("POST", "/login", body, headers)
    assert (answer.status, "; Secure" in answer.headers["set-cookie"]) == (303, True)
