"""Rules score sessions as they complete. The same for every kind of store."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from carob.api.golden.folder import GoldenFolder
from carob.api.history import list_runs, stored_run
from carob.api.serving.online import Alert, RuleRunner, is_sampled, today
from carob.api.serving.sessions import discard_session, list_sessions
from carob.api.serving.upkeep import Upkeep, apply_retention
from carob.api.settings import NO_CONFIG, load_trusted
from carob.config import Config
from carob.config.config import OnlineRule, ServeSettings
from carob.errors import FormatError, InputError, UsageError
from carob.schema import JudgeSettings
from carob.store.inbox import open_inbox
from carob.store.retention import keep_sessions
from tests.api import judging
from tests.api.agent_spans import chat, send, trace_id

COST_OF_A_FEW = 0.0115
"""US dollars: each question reserves a cent, and costs much less."""


class Online:
    """A rule, and what it has published."""

    def __init__(
        self,
        store: str,
        folder: Path,
        metrics: tuple[str, ...] = ("pii_leak",),
        config: Config = NO_CONFIG,
        **rule: Any,
    ) -> None:
        self.store = store
        self.alerts: list[Alert] = []
        self.runner = RuleRunner(
            OnlineRule(name="quality", metrics=metrics, **rule),
            store=store,
            folder=GoldenFolder(folder / "golden", folder / "golden" / "registry"),
            config=config,
            alert=self.alerts.append,
            since=0,
        )
        self.runner.check()

    def complete(self) -> int:
        """Score all sessions, and save the results."""
        number = self.score()
        self.runner.save_days(at_once=True)
        return number

    def score(self) -> int:
        """Score all sessions, as if they had been idle for an hour."""
        with open_inbox(self.store) as database, database.writing():
            database.execute("UPDATE sessions SET updated = updated - 3600000000")
        return self.runner.score_complete()


def test_sessions_of_a_day_become_one_run(store: str, tmp_path: Path):
    online = Online(store, tmp_path)
    send(store, chat(1, "Is it open?", "Until six."))
    assert online.runner.score_complete() == 0  # the session may go on
    assert online.complete() == 1
    send(store, chat(2, "Who are you?", "Write to mara.vogt@gmail.com"))
    assert (online.complete(), online.runner.score_complete()) == (1, 0)
    (entry,) = list_runs(store=store).runs
    assert entry.labels == {"online": "quality", "day": today()}
    run = stored_run(entry.id, store=store)
    assert sorted(str(result.trace) for result in run.cases) == [trace_id(1), trace_id(2)]
    assert [result.case for result in run.cases] == [None, None]


def test_agent_text_and_sample_select_sessions(store: str, tmp_path: Path):
    online = Online(store, tmp_path, agent="planner", text="open", sample=1.0)
    send(store, chat(1, "Is it open?", "Until six."))
    send(store, chat(2, "Is it open?", "Until six.", gen_ai__agent__name="planner"))
    send(store, chat(3, "Hello", "Hello.", gen_ai__agent__name="planner"))
    assert online.complete() == 2
    (entry,) = list_runs(store=store).runs
    assert [result.trace for result in stored_run(entry.id, store=store).cases] == [trace_id(2)]


def test_sample_depends_on_the_session_alone():
    rule = OnlineRule(name="quality", metrics=("pii_leak",), sample=0.25)
    sampled = [is_sampled(rule, f"session-{number}") for number in range(2000)]
    assert 400 < sum(sampled) < 600
    larger = OnlineRule(name="quality", metrics=("safety",), sample=0.5)
    assert all(is_sampled(larger, f"session-{n}") for n, chosen in enumerate(sampled) if chosen)


def test_only_sessions_that_match_a_golden_case_are_scored(store: str, tmp_path: Path):
    folder = tmp_path / "golden"
    folder.mkdir()
    case = _adk_case("open", "Is it open?", "Until six.")
    document = {"eval_set_id": "shop", "eval_cases": [case]}
    (folder / "shop.evalset.json").write_text(json.dumps(document))
    online = Online(store, tmp_path, metrics=("response_match_score",), golden="shop")
    send(store, chat(1, "Is it open?", "Until six."))
    send(store, chat(2, "Do you sell boats?", "No."))
    assert online.complete() == 2
    (entry,) = list_runs(store=store).runs
    assert (entry.dataset, entry.cases.total, entry.cases.passed) == ("shop", 1, 1)


def _adk_case(id: str, user: str, answer: str) -> dict[str, Any]:
    content = {
        "user_content": {"role": "user", "parts": [{"text": user}]},
        "final_response": {"role": "model", "parts": [{"text": answer}]},
    }
    return {"eval_id": id, "conversation": [{"invocation_id": "1", **content}]}


def test_low_pass_rate_is_an_alert_once(store: str, tmp_path: Path):
    online = Online(store, tmp_path, min_pass_rate=0.9)
    leaks = [chat(number, "Who?", "mara.vogt@gmail.com") for number in range(1, 23)]
    send(store, *leaks)
    assert online.complete() == 22
    send(store, chat(50, "Who?", "mara.vogt@gmail.com"))
    online.complete()
    (alert,) = online.alerts
    assert alert.message == "0 of 22 sessions passed, expected 90%"
    assert alert.run


def test_removed_session_stays_in_the_run_of_its_day(store: str, tmp_path: Path):
    online = Online(store, tmp_path)
    send(store, chat(1, "Is it open?", "Until six."))
    online.complete()
    discard_session(store, trace_id(1))
    send(store, chat(2, "Thanks", "Bye."))
    online.complete()
    assert [entry.cases.total for entry in list_runs(store=store).runs] == [2]


def test_new_rule_leaves_earlier_sessions_alone(store: str, tmp_path: Path):
    send(store, chat(1, "Is it open?", "Until six."))
    with open_inbox(store) as database, database.writing():
        database.execute("UPDATE sessions SET updated = updated - 3600000000")
    folder = GoldenFolder(tmp_path, tmp_path / "registry")
    rule = OnlineRule(name="quality", metrics=("pii_leak",))
    runner = RuleRunner(rule, store=store, folder=folder, config=NO_CONFIG)
    assert runner.score_complete() == 0


def test_judges_need_a_budget(tmp_path: Path):
    with pytest.raises(UsageError, match="judges need a budget"):
        Online(str(tmp_path / "carob.db"), tmp_path, metrics=("response_correctness",))


def test_unknown_metric_is_an_error_before_anything_is_scored(tmp_path: Path):
    with pytest.raises(UsageError, match="unknown metric 'pii_leek'"):
        Online(str(tmp_path / "carob.db"), tmp_path, metrics=("pii_leek",))


CONFIG = """
[serve]
keep_days = 7
keep_gb = 0.5

[online.quality]
metrics = ["pii_leak"]
agent = "support"
sample = 0.5
min_pass_rate = 0.9

[online.judged]
metrics = ["response_correctness"]
max_cost_per_day = 2.5
"""


def test_rules_are_read_and_money_needs_trust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "carob.toml"
    file.write_text(CONFIG)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    serve = load_trusted(file).serve
    assert (serve.keep_days, serve.keep_gb) == (7, 0.5)
    quality, judged = serve.rules
    assert (quality.agent, quality.sample, quality.min_pass_rate) == ("support", 0.5, 0.9)
    assert judged.max_cost_per_day is None
    assert load_trusted(file, trust_all=True).serve.rules[1].max_cost_per_day == 2.5
    monkeypatch.chdir(tmp_path)
    upkeep = Upkeep(str(tmp_path / "carob.db"), GoldenFolder())
    problems = {rule.name: rule.problem for rule in upkeep.rules}
    assert problems == {"quality": None, "judged": "rule judged: judges need a budget"}


def test_rule_that_failed_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A database that was away for a moment must not end the evaluation until the next start."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "carob.toml").write_text('[online.safe]\nmetrics = ["pii_leak"]\n')
    failures = [InputError("cannot connect"), InputError("cannot connect")]
    scored: list[bool] = []

    def score(_runner: RuleRunner) -> int:
        if failures:
            raise failures.pop()
        scored.append(True)
        return 0

    monkeypatch.setattr(RuleRunner, "score_complete", score)
    monkeypatch.setattr("carob.api.serving.upkeep._PAUSE_SECONDS", 0.01)
    monkeypatch.setattr("carob.api.serving.upkeep._RETRY_SECONDS", 0.02)
    alerts: list[object] = []
    upkeep = Upkeep("s.db", GoldenFolder(), publish=lambda _kind, data: alerts.append(data))
    upkeep.start()
    end = time.monotonic() + 20
    while not scored and time.monotonic() < end:
        time.sleep(0.01)
    upkeep.close()
    assert [rule.problem for rule in upkeep.rules] == [None]
    assert [alert.message for alert in alerts if isinstance(alert, Alert)] == [
        "the rule does not work: cannot connect"
    ]


def test_results_that_were_not_saved_before_a_crash_are_saved(store: str, tmp_path: Path):
    crashed = Online(store, tmp_path)
    send(store, chat(1, "Is it open?", "Until six."))
    assert crashed.score() == 1
    successor = Online(store, tmp_path)
    for _ in range(2):
        successor.runner.resume()
        successor.runner.save_days(at_once=True)
    (entry,) = list_runs(store=store).runs
    Online(store, tmp_path).runner.resume()
    assert list_runs(store=store).runs == (entry,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[online.x]\nmetrics = ['pii_leak']\nsample = 0", "expected a share above 0"),
        ("[online.x]\nagent = 'a'", "missing key 'metrics'"),
        ("[online.x]\nmetrics = ['pii_leak']\nsampel = 1", "unknown key 'sampel'"),
        ("[serve]\nkeep_days = -1", "expected a number above 0"),
    ],
)
def test_mistakes_in_rules_are_errors(tmp_path: Path, text: str, message: str):
    file = tmp_path / "carob.toml"
    file.write_text(text)
    with pytest.raises(FormatError, match=message):
        load_trusted(file)


def test_old_and_large_sessions_are_removed_but_never_kept_ones(store: str):
    for number in range(1, 5):
        send(store, chat(number, "Is it open?", "Until six. " * 100))
    with open_inbox(store) as database:
        keep_sessions(database, [trace_id(1)])
        with database.writing():
            sql = "UPDATE sessions SET updated = updated - 86400000000 * 9 WHERE id IN (?, ?)"
            database.execute(sql, (trace_id(1), trace_id(2)))
    assert apply_retention(store, ServeSettings(keep_days=7)) == 1
    assert {session.id for session in list_sessions(store).items} == {
        trace_id(number) for number in (1, 3, 4)
    }
    assert apply_retention(store, ServeSettings(keep_gb=1e-9)) == 2
    assert [session.id for session in list_sessions(store).items] == [trace_id(1)]


def test_judges_never_cost_more_than_the_budget_of_the_day(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = judging.install(monkeypatch)
    config = msgspec.structs.replace(NO_CONFIG, judge=JudgeSettings(model="openai:gpt-4o"))
    online = Online(
        store, tmp_path, metrics=("test_tone",), config=config, max_cost_per_day=COST_OF_A_FEW
    )
    for number in range(1, 7):
        send(store, chat(number, f"Question {number}?", f"Answer {number}, thank you."))
        online.complete()
    asked = len(model.requests)
    assert 0 < asked < 6
    (entry,) = list_runs(store=store).runs
    run = stored_run(entry.id, store=store)
    scores = [score for result in run.cases for score in result.scores]
    spent = sum(score.judge_cost.cost or 0 for score in scores if score.judge_cost)
    assert 0 < spent <= COST_OF_A_FEW
    assert any("not all sessions are scored" in alert.message for alert in online.alerts)
    assert {result.status for result in run.cases} == {"passed"}
