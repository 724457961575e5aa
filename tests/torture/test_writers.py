from __future__ import annotations

from tests.torture.writers import WRITERS, write_together


def test_ten_writers_lose_nothing():
    tally = write_together(0)
    assert tally.findings == []
    assert tally.total == 4 * WRITERS + 8
