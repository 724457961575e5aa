"""Contracts of the help texts of every command."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from carob.cli import carob


def all_commands() -> Iterator[tuple[str, ...]]:
    context = click.Context(carob)
    for name in carob.list_commands(context):
        command = carob.get_command(context, name)
        yield (name,)
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.list_commands(context))


def find_command(path: tuple[str, ...]) -> click.Command:
    command: click.Command = carob
    for name in path:
        assert isinstance(command, click.Group)
        subcommand = command.get_command(click.Context(command), name)
        assert subcommand is not None
        command = subcommand
    return command


COMMANDS = sorted(all_commands())
LEAVES = [path for path in COMMANDS if not isinstance(find_command(path), click.Group)]


def show_help(*path: str) -> str:
    return CliRunner().invoke(carob, [*path, "--help"], env={"COLUMNS": "200"}).output


@pytest.mark.parametrize("path", [(), *COMMANDS], ids=" ".join)
def test_help_fits_into_80_columns(path: tuple[str, ...]):
    assert [line for line in show_help(*path).splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_first_line_is_a_sentence_that_starts_with_a_verb(path: tuple[str, ...]):
    first = (find_command(path).help or "").splitlines()[0]
    assert re.fullmatch(r"[A-Z][a-z]+,? [^.]+\.", first)
    assert not re.match(r"(A|An|The|This|What|How|Is|May) ", first)


def test_list_of_commands_shows_the_first_line_of_each():
    listed = show_help()
    for name in carob.list_commands(click.Context(carob)):
        first = (find_command((name,)).help or "").splitlines()[0]
        assert re.search(rf"^  {name} +{re.escape(first)}$", listed, re.MULTILINE)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_option_is_described_in_sentences(path: tuple[str, ...]):
    for param in find_command(path).params:
        if isinstance(param, click.Option):
            assert re.fullmatch(r"[A-Z].*\.", param.help or ""), param.name
            repeatable = (param.help or "").endswith("Repeatable.")
            assert repeatable == param.multiple, param.name


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_ends_with_examples_that_parse(
    path: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("scores.jsonl").touch()  # opened while the arguments are parsed
    examples = show_help(*path).partition("\nExamples:\n")[2].splitlines()
    assert 1 <= len(examples) <= 2
    for example in examples:
        program, *args = shlex.split(example)
        assert (program, tuple(args[: len(path)])) == ("carob", path)
        with find_command(path).make_context(path[-1], args[len(path) :]) as context:
            assert context.params
