"""Beyond loopback, every request needs a token, and a token allows what it says."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import grpc
import pytest

from carob.api.serving.tokens import list_tokens, new_token, remove_token
from carob.errors import RefusedError, UsageError
from tests.server.conftest import Client, Process, start_server


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarded")


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    store = str(folder / "runs.db")
    return {role: new_token(store, role, [role]).token for role in ("read", "write", "ingest")}


@pytest.fixture(scope="module")
def server(folder: Path, tokens: dict[str, str]) -> Iterator[Process]:
    """A server that asks everyone for a token, as one that others can reach does."""
    started = start_server(folder, "--require-token", "--store", str(folder / "runs.db"))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def guarded(server: Process) -> Client:
    return server.client


def ask(client: Client, method: str, path: str, token: str | None) -> int:
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    return client.ask(method, path, b"{}", headers).status


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/metrics", {"read", "write"}),
        ("DELETE", "/api/sessions/none", {"write"}),
        ("POST", "/v1/traces", {"ingest"}),
        ("GET", "/api/health", {"read", "write", "ingest", ""}),
    ],
)
def test_token_allows_what_its_roles_say(
    guarded: Client, tokens: dict[str, str], method: str, path: str, allowed: set[str]
):
    for role in ("read", "write", "ingest", ""):
        status = ask(guarded, method, path, tokens.get(role))
        expected = {200, 404} if role in allowed else {401} if not role else {403}
        assert status in expected, role


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("ingest", None),
        ("read", grpc.StatusCode.PERMISSION_DENIED),
        ("", grpc.StatusCode.UNAUTHENTICATED),
    ],
)
def test_grpc_tells_a_token_without_the_role_from_none(
    server: Process, tokens: dict[str, str], role: str, expected: grpc.StatusCode | None
):
    metadata = [("authorization", f"Bearer {tokens[role]}")] if role else []
    with grpc.insecure_channel(server.addresses["grpc"]) as channel:
        export: Any = cast("Any", channel).unary_unary(
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
        )
        try:
            assert export(b"", timeout=10, metadata=metadata) == b""
            code = None
        except grpc.RpcError as error:
            code = cast("Any", error).code()
    assert code == expected


@pytest.mark.parametrize("token", ["carob_", "carob_x", " ", "\xff", "a" * 5000])
def test_unknown_token_opens_nothing(guarded: Client, token: str):
    assert ask(guarded, "GET", "/api/metrics", token) == 401


def test_removed_token_is_refused_soon(guarded: Client, folder: Path):
    store = str(folder / "runs.db")
    token = new_token(store, "short-lived", ["read"]).token
    time.sleep(1.1)
    assert ask(guarded, "GET", "/api/metrics", token) == 200
    remove_token(store, "short-lived")
    time.sleep(1.1)
    assert ask(guarded, "GET", "/api/metrics", token) == 401


def test_token_itself_is_not_stored(folder: Path, tokens: dict[str, str]):
    with sqlite3.connect(folder / "runs.db") as connection:
        rows = connection.execute("SELECT * FROM tokens").fetchall()
    connection.close()
    stored = repr(rows)
    assert len(rows) == 3
    assert not any(token in stored for token in tokens.values())
    assert [token.name for token in list_tokens(str(folder / "runs.db"))] == [
        "ingest",
        "read",
        "write",
    ]


def test_invalid_tokens_are_errors(tmp_path: Path):
    store = str(tmp_path / "runs.db")
    new_token(store, "ci", ["read"])
    with pytest.raises(RefusedError, match="token named 'ci'"):
        new_token(store, "ci", ["write"])
    with pytest.raises(UsageError, match="unknown role 'admin'"):
        new_token(store, "boss", ["admin"])
    with pytest.raises(UsageError, match="invalid token name"):
        new_token(store, "../x", ["read"])


def test_server_without_a_token_is_not_opened_to_others(tmp_path: Path):
    for args in (["--host", "0.0.0.0"], ["--require-token"]):  # noqa: S104 - refused before it binds
        with pytest.raises(AssertionError, match="a token is required, and there is none"):
            start_server(tmp_path, *args)
