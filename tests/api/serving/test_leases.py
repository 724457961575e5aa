"""Leases: one of several servers has one, the others get it when it is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from carob.api.golden.folder import GoldenFolder
from carob.api.serving import leases as leases_module
from carob.api.serving.leases import Leases
from carob.api.serving.online import RuleRunner
from carob.api.serving.upkeep import Upkeep


def test_lease_is_held_by_one_until_it_is_released(store: str):
    first, second = Leases(store), Leases(store)
    assert first.take("rule tone")
    assert first.take("rule tone")
    assert not second.take("rule tone")
    assert second.take("rule pii")
    first.release("rule tone")
    assert second.take("rule tone")
    assert not first.take("rule tone")
    first.close()
    second.close()
    assert first.take("rule tone")


def test_lease_of_a_server_that_is_gone_runs_out(store: str, monkeypatch: pytest.MonkeyPatch):
    gone, other = Leases(store), Leases(store)
    monkeypatch.setattr(leases_module, "LEASE_SECONDS", -1)
    assert gone.take("rule tone")
    monkeypatch.undo()
    assert other.take("rule tone")
    assert not gone.take("rule tone")


def test_rule_is_worked_on_by_one_server(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Two servers with the same rule score each session once, so that judges are paid once."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "carob.toml").write_text('[online.safe]\nmetrics = ["pii_leak"]\n')
    scored: list[int] = []
    score = RuleRunner.score_complete

    def count(runner: RuleRunner) -> int:
        scored.append(id(runner))
        return score(runner)

    monkeypatch.setattr(RuleRunner, "score_complete", count)
    monkeypatch.setattr("carob.api.serving.upkeep._PAUSE_SECONDS", 0.01)
    leases = [Leases(store), Leases(store)]
    servers = [Upkeep(store, GoldenFolder(tmp_path), leases=held) for held in leases]
    for server in servers:
        server.start()
    _wait(lambda: len(scored) > 5)
    assert len({*scored}) == 1
    worker = next(place for place, held in enumerate(leases) if held.take("rule safe"))
    servers[worker].close()
    leases[worker].close()
    _wait(lambda: len({*scored}) == 2)
    servers[1 - worker].close()


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)
