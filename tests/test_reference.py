from __future__ import annotations

import pytest

from carob.plugins import METRICS
from tests.limits import OFFLINE
from tests.reference import FOLDER, pages


@pytest.mark.parametrize("name", list(pages()))
def test_reference_page_is_up_to_date(name: str):
    assert (FOLDER / name).read_text("utf-8") == pages()[name], "run `make docs`"


def test_limits_of_every_offline_metric_are_stated():
    offline = {name for name, home in METRICS.items() if ".judges." not in home}
    assert offline == OFFLINE.keys()


def test_metrics_page_starts_with_one_table_of_all_metrics():
    table = pages()["metrics.md"].split("\n## ")[0]
    assert "what it sees | what it cannot see | measured agreement | role" in table
    assert [name for name in METRICS if f"| `{name}` |" not in table] == []
    assert "κ 0.92 (80) | deciding |" in table
