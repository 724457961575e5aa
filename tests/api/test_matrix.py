from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.leaderboard import leaderboard
from carob.api.matrix import run_matrix
from carob.api.run_request import RunRequest
from carob.errors import CarobError, UsageError
from tests.judges.scripted_server import ScriptedServer, json_response

DATA = Path(__file__).parents[2] / "src" / "carob" / "demo" / "data"
AGENT = """
def good(message: str) -> str:
    return "We repair e-bikes." if "repair" in message else "From 9:00 to 18:00."

def vague(message: str) -> str:
    return "Please call us."
"""
GOLDEN = """Input,ExpectedOutput
Do you repair e-bikes?,We repair e-bikes.
When are you open?,From 9:00 to 18:00.
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "golden.csv").write_text(GOLDEN)


def configure(*lines: str) -> None:
    Path("carob.toml").write_text("\n".join(lines))


def request(**changes: object) -> RunRequest:
    fields = {"golden": "golden.csv", "metrics": ["rouge_l"], "trust_config": True, **changes}
    return RunRequest(**fields)  # pyright: ignore[reportArgumentType]


TARGETS = ("[matrix.target]", 'good = "python:agent.py:good"', 'vague = "python:agent.py:vague"')


def test_every_combination_is_a_run_and_all_are_ranked():
    configure(*TARGETS)
    titles: list[str] = []
    result = run_matrix(request(), announce=titles.append)
    assert titles == ["target=good", "target=vague"]
    assert not result.passed()
    board = leaderboard(batch=result.batch, metric="rouge_l")
    assert [(run.name, run.value) for run in board.runs] == [
        ("target=good", 1.0),
        ("target=vague", 0.0),
    ]


def test_resumed_matrix_repeats_no_finished_cell():
    configure(*TARGETS)
    run_matrix(request())
    titles: list[str] = []
    assert run_matrix(request(resume=True), announce=titles.append).evaluations == {}
    assert titles == []
    configure(*TARGETS, 'silent = "python:agent.py:vague"')
    # Another matrix is another batch, so that all of its cells run.
    assert len(run_matrix(request(resume=True)).evaluations) == 3


def test_traces_can_be_an_axis():
    for name in ("good", "regressed"):
        source = DATA / "traces" / f"{name}.otlp.jsonl"
        Path(source.name).write_bytes(source.read_bytes())
    configure("[matrix.traces]", 'good = "good.otlp.jsonl"', 'regressed = "regressed.otlp.jsonl"')
    golden = str(DATA / "support.evalset.json")
    result = run_matrix(request(golden=golden, metrics=["tool_trajectory_avg_score"]))
    verdicts = {title: run.run.verdict for title, run in result.evaluations.items()}
    assert verdicts["traces=regressed"] == "failed"


def test_targets_of_a_matrix_need_trust():
    configure(*TARGETS)
    with pytest.raises(CarobError, match=r"need your trust: matrix\.target\.good"):
        run_matrix(request(trust_config=False))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("[run]",), "the config has no matrix"),
        (("[matrix.targt]", 'a = "x"'), "unknown axis 'targt'"),
        (("[matrix.target]",), "expected at least one value"),
    ],
)
def test_mistakes_are_named(lines: tuple[str, ...], message: str):
    configure(*lines)
    with pytest.raises(CarobError, match=message):
        run_matrix(request())


def test_matrix_must_be_saved():
    configure(*TARGETS)
    with pytest.raises(UsageError, match="must be saved"):
        run_matrix(request(save=False))


def test_axes_are_combined():
    configure(*TARGETS, '[matrix."response_match_score.stemming"]', "on = true", "off = false")
    with pytest.raises(CarobError, match="stemming"):  # parameters are checked as any other
        run_matrix(request(metrics=["response_match_score"]))
    configure(*TARGETS, "[matrix.profile]", 'a = "strict"', 'b = "strict"')
    titles: list[str] = []
    with pytest.raises(CarobError, match="profile"):
        run_matrix(request(), announce=titles.append)
    assert titles == ["target=good, profile=a"]


PROMPTED = """
def answer(message, conversation):
    options = conversation.options
    return f"{options['model']}: {options['prompt']}"
"""


def test_models_and_prompts_are_axes_of_any_agent():
    Path("agent.py").write_text(PROMPTED)
    configure(
        'target = "python:agent.py:answer"',
        "[matrix.model]",
        'small = "mini-1"',
        "[matrix.prompt]",
        'short = "Be brief."',
        'kind = "Be kind."',
    )
    result = run_matrix(request())
    answers = {
        title: evaluation.run.cases[0].exchanges[0].actual
        for title, evaluation in result.evaluations.items()
    }
    assert answers == {
        "model=small, prompt=short": "mini-1: Be brief.",
        "model=small, prompt=kind": "mini-1: Be kind.",
    }
    targets = [evaluation.run.target for evaluation in result.evaluations.values()]
    assert [target.params for target in targets if target] == [
        {"model": "mini-1", "prompt": "Be brief."},
        {"model": "mini-1", "prompt": "Be kind."},
    ]


def test_models_and_prompts_of_a_chat_target(monkeypatch: pytest.MonkeyPatch):
    message = {"role": "assistant", "content": "From 9:00 to 18:00."}
    reply = json_response({"choices": [{"message": message, "finish_reason": "stop"}]})
    monkeypatch.setenv("CAROB_SHOP_KEY", "key-of-the-shop")
    with ScriptedServer(reply) as server:
        configure(
            "[targets.shop]",
            'name = "chat:base"',
            f'url = "{server.url}"',
            'key_env = "CAROB_SHOP_KEY"',
            "[matrix.target]",
            'shop = "shop"',
            "[matrix.model]",
            'small = "mini-1"',
            'large = "maxi-2"',
            "[matrix.prompt]",
            'short = "Be brief."',
        )
        run_matrix(request())
        asked = {
            (item.json["model"], item.json["messages"][0]["content"]) for item in server.requests
        }
        keys = {item.headers["authorization"] for item in server.requests}
    assert asked == {("mini-1", "Be brief."), ("maxi-2", "Be brief.")}
    assert keys == {"Bearer key-of-the-shop"}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("python:agent.py:good", "cannot see its options"),
        ("a2a:http://127.0.0.1:9", "unknown option 'prompt'"),
        ("chat:mini", "unknown option 'tone'"),
    ],
)
def test_option_without_an_effect_is_an_error(target: str, message: str):
    axis = "option.tone" if target.startswith("chat") else "prompt"
    configure(f'target = "{target}"', f'[matrix."{axis}"]', 'short = "Be brief."')
    with pytest.raises(UsageError, match=message):
        run_matrix(request())
