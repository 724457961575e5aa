from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs import ROOT, StaleError, fill, pages, play


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page_shows_the_current_output_of_its_examples(page: Path, tmp_path: Path):
    fill(tmp_path)
    text = page.read_text("utf-8")
    assert play(text, tmp_path) == text


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_of_a_page_exist(page: Path):
    links = re.findall(r"\]\((?!\w+:)([^)#\s]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_terminal_shows_what_was_printed_and_how_it_ended(tmp_path: Path):
    stale = "```console\n$ echo out; echo err >&2; exit 3\nold\n$ echo $?\n```\n"
    fresh = "```console\n$ echo out; echo err >&2; exit 3\nout\nerr\n$ echo $?\n3\n```\n"
    assert play(stale, tmp_path) == fresh
    assert play(fresh, tmp_path) == fresh


def test_failure_that_is_not_shown_is_refused(tmp_path: Path):
    with pytest.raises(StaleError, match="exit code 1"):
        play("```console\n$ false\n```\n", tmp_path)


def test_long_command_goes_on_after_a_backslash(tmp_path: Path):
    text = "```console\n$ echo a \\\n> b\na b\n```\n"
    assert play(text, tmp_path) == text


def test_program_prints_into_the_text_block_below_it(tmp_path: Path):
    text = "```python\nprint(6 * 7)\n```\n\n```text\n?\n```\n"
    assert play(text, tmp_path) == text.replace("?", "42")


def test_program_that_prints_needs_a_text_block(tmp_path: Path):
    with pytest.raises(StaleError, match="no `text` block"):
        play("```python\nprint(1)\n```\n", tmp_path)


def test_named_block_becomes_a_file_for_the_commands_after_it(tmp_path: Path):
    text = "```csv file=a.csv\nx,y\n```\n\n```console\n$ cat a.csv\nx,y\n```\n"
    assert play(text, tmp_path) == text
