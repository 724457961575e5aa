from __future__ import annotations

from tests.torture.kills import kill_commands, kill_with_postgres
from tests.torture.scenarios import SCENARIOS

_FEW = ("run, 2 jobs", "convert over a table", "release")


def test_killed_commands_lose_nothing():
    tally = kill_commands(10, seed=1, scenarios=[one for one in SCENARIOS if one.name in _FEW])
    assert tally.findings == []
    assert tally.total


def test_killed_clients_and_servers_of_postgres_lose_nothing():
    tally = kill_with_postgres(8, seed=1)
    assert tally.findings == []
    assert tally.total
