from __future__ import annotations

import shutil

import pytest

from tests.torture.faults import fail_calls
from tests.torture.scenarios import SCENARIOS

_FEW = ("run", "convert over a table", "release")


@pytest.mark.skipif(not shutil.which("cc"), reason="needs a C compiler")
def test_failed_system_calls_are_errors_and_do_no_damage():
    tally = fail_calls(10, seed=1, scenarios=[one for one in SCENARIOS if one.name in _FEW])
    assert tally.findings == []
    assert tally.total
