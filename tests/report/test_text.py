from __future__ import annotations

from carob.report.text import number, printable


def test_hostile_text_cannot_control_the_terminal():
    assert printable("a\x1b[2Jb\u202ec\r\n") == "a\\x1b[2Jb\\u202ec\\x0d\n"


def test_large_numbers_are_grouped_and_unknown_ones_are_a_dash():
    assert [number(value) for value in (None, 0, 0.70833, 12345.6)] == ["–", "0", "0.708", "12,346"]
