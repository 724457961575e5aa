from __future__ import annotations

import json

import pytest

from tests.judges.scripted_server import ScriptedServer, json_response

pytest_plugins = ["pytester"]
BODY = """
    import pytest

    @pytest.mark.golden("shop.json", metrics=["Helpfulness"], judge="openai:gpt-5-mini")
    def test_shop(golden):
        golden.check("Yes.")
"""


def answer(score: int) -> ScriptedServer:
    text = json.dumps({"thoughtChain": "", "explanation": "Too short.", "score": score})
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return ScriptedServer(json_response({"choices": [choice]}))


def test_tests_ask_each_judge_only_once(shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch):
    shop.makepyfile(BODY)
    with answer(2) as judge:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{judge.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        first = shop.runpytest_subprocess("-ra")
        first.assert_outcomes(failed=3)
        first.stdout.fnmatch_lines(["*Helpfulness 2.00, threshold 3.7", "*Too short."])
        assert len(judge.requests) == 3
        shop.runpytest_subprocess("-ra").assert_outcomes(failed=3)
        assert len(judge.requests) == 3


def test_address_in_the_config_is_used_only_with_trust(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    shop.makepyfile(BODY)
    monkeypatch.setenv("XDG_STATE_HOME", str(shop.path.parent / "state"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    with answer(5) as judge:
        config = f'[judge]\nurl = "{judge.url}/v1"\nkey_env = "OPENAI_API_KEY"\n'
        (shop.path / "carob.toml").write_text(config)
        refused = shop.runpytest_subprocess()
        refused.stdout.fnmatch_lines(["*settings that need your trust: judge.url = *"])
        assert not judge.requests
        shop.runpytest_subprocess("--carob-trust-config").assert_outcomes(passed=3)
        assert judge.requests
