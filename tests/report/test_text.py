from __future__ import annotations

from carob.report.text import columns, printable


def test_hostile_text_cannot_control_the_terminal():
    assert printable("a\x1b[2Jb\u202ec\r\n") == "a\\x1b[2Jb\\u202ec\\x0d\n"


def test_name_with_line_breaks_cannot_pass_for_a_line_of_the_report():
    rows = [["case", "status"], ["a\npassed: all\x1b[2J", "draft"], ["b", "draft"]]
    assert [*columns(rows)] == [
        "case                  status",
        "a passed: all\\x1b[2J   draft",
        "b                      draft",
    ]
