from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.judges.providers.endpoint import find_proxy


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_no_proxy_without_environment_variables():
    assert find_proxy("https://judge.example.com/v1") is None


def test_proxy_depends_on_the_scheme(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("https_proxy", "http://user:hunter2hunter2@proxy.example.com:3128")
    proxy = find_proxy("https://judge.example.com/v1")
    assert proxy is not None
    assert proxy.url == "http://user:hunter2hunter2@proxy.example.com:3128"
    assert "hunter2" not in repr(proxy)
    assert proxy.redactor.redact("it was hunter2hunter2") == "it was ***"
    assert find_proxy("http://judge.example.com/v1") is None


def test_host_in_no_proxy_is_contacted_directly(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example.com:3128")
    monkeypatch.setenv("no_proxy", "example.com")
    assert find_proxy("https://judge.example.com/v1") is None


@pytest.mark.parametrize("url", ["socks5://user:hunter2@proxy.example.com", "proxy.example.com:1"])
def test_unsupported_proxy_is_an_error_before_anything_runs(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("https_proxy", url)
    with pytest.raises(UsageError) as caught:
        find_proxy("https://judge.example.com/v1")
    assert (
        caught.value.hint == "change the environment variable, or add judge.example.com to NO_PROXY"
    )
    assert "hunter2" not in repr(caught.value)
