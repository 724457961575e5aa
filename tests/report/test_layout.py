from __future__ import annotations

import pytest

from carob.report.layout import (
    Display,
    Painted,
    Paragraph,
    Part,
    Preview,
    TextTable,
    join_lines,
    line,
    status,
)
from carob.report.width import cut_text, text_width

METRICS: list[list[Part]] = [
    ["metric", "mean", "passed", "verdict"],
    ["tool_trajectory_avg_score", "0.708", "1,234", status("regressed")],
    ["rouge_l", "1", "8", "equivalent"],
]


def lay_out(*blocks: str | Painted | TextTable | Preview, width: int | None = None) -> list[str]:
    return join_lines(blocks, Display(width)).splitlines()


def test_files_and_pipes_get_whole_lines_without_colors():
    words = "word " * 60
    text = join_lines([line(status("failed"), f": {words.strip()}"), TextTable(METRICS)])
    assert text.splitlines() == [
        f"failed: {words.strip()}",
        "metric                      mean  passed     verdict",
        "tool_trajectory_avg_score  0.708   1,234   regressed",
        "rouge_l                        1       8  equivalent",
    ]


def test_statuses_are_colored_on_terminals():
    text = join_lines(
        [line(status("failed"), ": a"), line(status("none"), ": b")], Display(80, True)
    )
    assert text == "\x1b[1;31mfailed\x1b[0m: a\nnone: b\n"


def test_hostile_text_cannot_use_colors():
    text = join_lines(
        [Painted("a\x1b[32mpassed\x9b2J", "bad"), "\x1b[32mpassed"], Display(80, True)
    )
    assert text == "\x1b[1;31ma\\x1b[32mpassed\\x9b2J\x1b[0m\n\\x1b[32mpassed\n"


def test_name_with_line_breaks_cannot_pass_for_a_line_of_the_report():
    rows = [["case", "status"], ["a\npassed: all\x1b[2J", "draft"], ["b", "draft"]]
    assert lay_out(TextTable(rows)) == [
        "case                  status",
        "a passed: all\\x1b[2J   draft",
        "b                      draft",
    ]


def test_long_lines_are_wrapped_between_words_below_their_indent():
    text = "  hint: " + " ".join(["expected"] * 6)
    assert lay_out(text, width=40) == [
        "  hint: expected expected expected",
        "    expected expected expected",
    ]


def test_addresses_are_not_wrapped():
    address = "https://example.com/" + "a" * 60
    assert lay_out(f"see {address} there", width=40) == ["see", f"  {address}", "  there"]


def test_wrapped_words_keep_their_color():
    text = join_lines([line("a ", Painted("b " * 20, "added"))], Display(20, True))
    first, second, _ = text.splitlines()
    assert first == "a \x1b[1;32m" + ("b " * 9).rstrip() + "\x1b[0m"
    assert second.startswith("  \x1b[1;32mb b")


def test_wide_table_wraps_names_after_punctuation():
    assert lay_out(TextTable(METRICS), width=48) == [
        "metric                  mean  passed     verdict",
        "tool_trajectory_avg_   0.708   1,234   regressed",
        "score",
        "rouge_l                    1       8  equivalent",
    ]


@pytest.mark.parametrize("width", range(20, 61))
def test_table_fits_any_terminal(width: int):
    assert max(map(text_width, lay_out(TextTable(METRICS), width=width))) <= max(width, 27)


def test_table_that_cannot_fit_is_a_list_of_records():
    assert lay_out(TextTable(METRICS[:2]), width=24) == [
        "tool_trajectory_avg_score",
        "  mean     0.708",
        "  passed   1,234",
        "  verdict  regressed",
    ]


def test_characters_of_double_width_keep_columns_aligned():
    rows = [["case", "cases"], ["返品の受付", "3"], ["été", "12"], ["e\u0301te\u0301", "7"]]
    lines = lay_out(TextTable(rows))
    assert {text_width(text) for text in lines} == {17}


def test_text_without_spaces_is_wrapped_between_characters():
    text = "注文番号を教えてください。" * 3
    assert all(text_width(row) <= 40 for row in lay_out(text, width=40))


def test_preview_is_as_long_as_the_terminal_is_wide():
    preview = Preview("  actual  ", "the label is on its way " * 10, 30)
    assert lay_out(preview) == ["  actual  the label is on its way the l…"]
    assert lay_out(preview, width=40) == ["  actual  the label is on its way the …"]
    assert len(lay_out(preview, width=120)[0]) <= 120


def test_paragraph_is_wrapped_in_files_too():
    text = join_lines([Paragraph(("  ", "word " * 30), hang=4)])
    assert [len(row) for row in text.splitlines()] == [96, 58]


def test_cut_text_counts_cells():
    assert cut_text("返品の受付", 5) == "返品…"
    assert cut_text("abc", 3) == "abc"
