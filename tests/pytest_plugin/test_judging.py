from __future__ import annotations

import json

import pytest

from tests.judges.scripted import Scripted, says

pytest_plugins = ["pytester"]
BODY = """
    import pytest

    @pytest.mark.golden("shop.json", metrics=["Helpfulness"], judge="openai:gpt-5-mini")
    def test_shop(golden):
        golden.check("Yes.")
"""


def answer(score: int) -> Scripted:
    said = json.dumps({"thoughtChain": "", "explanation": "Too short.", "score": score})
    choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return Scripted(says({"choices": [choice]}))


def test_judges_are_asked_by_tests_and_once_only(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    shop.makepyfile(BODY)
    with answer(2) as judge:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{judge.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        first = shop.runpytest_subprocess("-ra")
        first.assert_outcomes(failed=3)
        first.stdout.fnmatch_lines(["*Helpfulness 2.00, threshold 3.7", "*Too short."])
        assert len(judge.asked) == 3
        shop.runpytest_subprocess("-ra").assert_outcomes(failed=3)
        assert len(judge.asked) == 3
