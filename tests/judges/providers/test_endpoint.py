from __future__ import annotations

from typing import Any

import pytest

from carob.errors import UsageError
from carob.judges.providers.endpoint import ModelEndpoint, find_endpoint, find_proxy, on_loopback
from carob.schema import JudgeSettings

KEY = "sk-test-4f9a8b7c"
DEPLOYED = (
    "https://us.openai.azure.com/openai/deployments/my%20judge/chat/completions"
    "?api-version=2024-10-21"
)
VARIABLES = [
    f"{name}_{suffix}"
    for name in ("OPENAI", "AZURE_OPENAI", "OLLAMA", "VLLM")
    for suffix in ("API_KEY", "BASE_URL", "ENDPOINT", "API_VERSION")
]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def endpoint_of(model: str, **fields: Any) -> ModelEndpoint:
    return find_endpoint(JudgeSettings(model=model, **fields))


def expect_error(model: str, **fields: Any) -> UsageError:
    with pytest.raises(UsageError) as caught:
        endpoint_of(model, **fields)
    return caught.value


def test_openai_has_a_default_url(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint = endpoint_of("openai:gpt-5-mini")
    assert endpoint.url == "https://api.openai.com/v1/chat/completions"
    assert endpoint.headers == {"Authorization": f"Bearer {KEY}"}
    assert endpoint.name == "openai:gpt-5-mini"
    assert endpoint.model == "gpt-5-mini"
    assert not endpoint.loopback


def test_repr_does_not_show_the_key(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert KEY not in repr(endpoint_of("openai:gpt-5-mini"))


def test_url_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example.com/v1/")
    endpoint = endpoint_of("openai:gpt-5-mini")
    assert endpoint.url == "https://gateway.example.com/v1/chat/completions"
    assert endpoint.headers


def test_default_key_is_not_sent_to_a_custom_url(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    endpoint = endpoint_of("openai:gpt-5-mini", url="https://elsewhere.example.com/v1")
    assert endpoint.headers == {}
    assert endpoint.key == "a request without a key"


def test_key_from_a_configured_variable_is_sent(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTHER_KEY", KEY)
    settings = {"url": "https://elsewhere.example.com/v1", "key_env": "OTHER_KEY"}
    endpoint = endpoint_of("openai:gpt-5-mini", **settings)
    assert endpoint.headers == {"Authorization": f"Bearer {KEY}"}
    assert endpoint.key == "the key in OTHER_KEY"


def test_missing_key_is_named_by_its_variable():
    error = expect_error("openai:gpt-5-mini")
    assert str(error) == "openai:gpt-5-mini: missing API key"
    assert error.hint == "set the environment variable OPENAI_API_KEY"


@pytest.mark.parametrize("key", ["sk-ü", "sk-a\nb"])
def test_invalid_key_is_refused_and_not_shown(key: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    error = expect_error("openai:gpt-5-mini")
    assert error.message == "OPENAI_API_KEY contains characters that are not allowed in a key"
    assert key not in repr(error)


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("ollama", "http://localhost:11434/v1/chat/completions"),
        ("vllm", "http://localhost:8000/v1/chat/completions"),
    ],
)
def test_servers_on_this_machine_need_no_key(provider: str, url: str):
    endpoint = endpoint_of(f"{provider}:llama3:8b")
    assert (endpoint.url, endpoint.model, endpoint.headers) == (url, "llama3:8b", {})
    assert endpoint.loopback


@pytest.mark.parametrize(
    ("address", "url"),
    [
        (
            "https://us.openai.azure.com/",
            DEPLOYED,
        ),
        (
            "https://us.openai.azure.com/openai",
            DEPLOYED,
        ),
        (
            "https://us.openai.azure.com/openai/v1/",
            "https://us.openai.azure.com/openai/v1/chat/completions",
        ),
    ],
)
def test_azure_accepts_two_forms_of_url(address: str, url: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", address)
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    endpoint = endpoint_of("azure:my judge")
    assert endpoint.url == url
    assert endpoint.headers == {"api-key": KEY}


def test_azure_requires_a_url_and_an_api_version(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
    error = expect_error("azure:judge")
    assert error.hint == "set AZURE_OPENAI_ENDPOINT, or give the judge a `url`"
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://us.openai.azure.com")
    error = expect_error("azure:judge")
    assert str(error) == "azure:judge: missing API version"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example.com",
        "a.example.com/v1",
        "http://",
        "http://[::1",
        "http://a.example.com:port",
        "http://a b.example.com",
        "http://a.example.com/\n",
        "",
    ],
)
def test_invalid_url_is_refused(url: str):
    error = expect_error("openai:judge", url=url)
    assert "expected an http or https URL" in str(error)
    assert error.where == "judge url"


@pytest.mark.parametrize(
    "url",
    [
        "https://user:hunter2@a.example.com/v1",
        "https://a.example.com/v1?key=hunter2",
        "https://a.example.com/v1?",
        "https://a.example.com/v1#hunter2",
    ],
)
def test_url_with_credentials_query_or_fragment_is_refused_and_not_shown(url: str):
    error = expect_error("openai:judge", url=url)
    assert error.message == "the URL must not contain credentials, a query or a fragment"
    assert "hunter2" not in repr(error)


@pytest.mark.parametrize(
    ("url", "stays"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://judge.localhost/v1", True),
        ("http://localhost.example.com/v1", False),
        ("http://10.0.0.1/v1", False),
    ],
)
def test_loopback_urls_are_recognized(url: str, stays: bool):
    assert on_loopback(url) is stays


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
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
