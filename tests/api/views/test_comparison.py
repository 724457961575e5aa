"""What moved on every flip between two stored runs."""

from __future__ import annotations

from pathlib import Path

from carob.api.views.comparison import view_comparison
from tests.browser.workspace import golden_cases, run_of, write_golden


def test_every_flip_says_what_moved_and_what_stayed(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    cases = golden_cases()[:6]
    write_golden(tmp_path, cases)
    good = run_of(tmp_path, store, cases, (), "1")
    bad = run_of(tmp_path, store, cases, [case.id for case in cases], "2")
    view = view_comparison(good.id, bad.id, store=store)
    moved = {flip.flip.case: flip for flip in view.flips}
    assert moved["late_frost"].moved == ("tool calls", "agent answer", "model fern-1 → fern-2")
    assert moved["late_frost"].same == ("golden same", "metric same", "mapping same")
    assert [step.kind for step in moved["late_frost"].calls] == ["missing"]
    assert moved["hebrew"].only_text
    assert not moved["return_pot"].only_text
    assert moved["return_pot"].calls[0].actual is not None
    assert moved["return_pot"].calls[0].actual.name == "send_voucher"
    assert "opening_hours" not in moved
