"""docs/reference/, written from the code. `python -m tests.reference` writes it anew."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from carob import plugins
from carob.api import metrics
from carob.cli import carob
from carob.schema import MetricInfo

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"


def pages() -> dict[str, str]:
    """The text of each page."""
    made = {"commands.md": _commands(), "formats.md": _formats(), "metrics.md": _metrics()}
    return {name: "\n".join(lines) + "\n" for name, lines in made.items()}


def _commands() -> Iterator[str]:
    yield "# Commands\n"
    yield "Data goes to stdout, everything else to stderr. Exit codes: 0 good, 1 the data or the"
    yield "agent did not pass, 2 the command could not be carried out."
    yield from _group(carob, "carob")


def _group(group: click.Group, path: str) -> Iterator[str]:
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _group(command, f"{path} {name}")
        elif command:
            inner = click.Context(command, info_name=f"{path} {name}", max_content_width=100)
            yield f"\n## {path} {name}\n\n```text\n{command.get_help(inner)}\n```"


def _formats() -> Iterator[str]:
    yield "# Golden formats\n"
    yield "| format | recognised by | containers | written |\n|---|---|---|---|"
    for form in plugins.formats():
        written = "yes" if form.writable else "no"
        yield f"| `{form.name}` | {form.sought} | {', '.join(form.containers)} | {written} |"


def _metrics() -> Iterator[str]:
    yield "# Metrics\n"
    yield "What a metric needs of a case is written `case.…`; the rest it needs of the trace."
    for one in metrics.metrics():
        yield from _metric(one)


def _metric(one: MetricInfo) -> Iterator[str]:
    low, high = one.scale
    yield f"\n## {one.name}\n\n{one.description}\n"
    yield f"- version {one.version}, {'judged by a model' if one.judged else 'offline'}"
    yield f"- scale {low:g} to {'∞' if high is None else f'{high:g}'}, {one.better} is better"
    yield f"- threshold {'none: it informs' if one.threshold is None else f'{one.threshold:g}'}"
    yield f"- needs {', '.join(f'`{need}`' for need in one.needs) or 'nothing'}"
    if one.params:
        yield f"- parameters {', '.join(f'`{n}` = `{v!r}`' for n, v in one.params.items())}"
    if one.packages:
        yield f"- with the package {', '.join(f'`{name}`' for name in one.packages)}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
        sys.stdout.write(f"written: docs/reference/{name}\n")


if __name__ == "__main__":
    main()
