from __future__ import annotations

import shutil

import pytest

from tests.torture.receivers import receive


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_killed_and_starved_receivers_lose_nothing_that_they_acknowledged():
    tally = receive(60, seed=1, attempts=4)
    assert tally.findings == []
    assert tally.total == 4
