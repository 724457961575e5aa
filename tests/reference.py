"""Generate docs/reference/ from the code; `python -m tests.reference` updates it."""

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
    """Return the text of each page by file name."""
    generated = {"commands.md": _commands(), "formats.md": _formats(), "metrics.md": _metrics()}
    return {name: "\n".join(lines) + "\n" for name, lines in generated.items()}


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
    yield "| format | detected by | containers | writable |\n|---|---|---|---|"
    for form in plugins.formats():
        writes = "yes" if form.writable else "no"
        yield f"| `{form.name}` | {form.recognized_by} | {', '.join(form.containers)} | {writes} |"


def _metrics() -> Iterator[str]:
    yield "# Metrics\n"
    yield "Requirements that start with `case.` refer to the golden case, all others to the trace."
    for metric in metrics.metrics():
        yield from _metric(metric)


def _metric(metric: MetricInfo) -> Iterator[str]:
    low, high = metric.scale
    yield f"\n## {metric.name}\n\n{metric.description}\n"
    yield f"- version {metric.version}, {'judged by a model' if metric.judged else 'offline'}"
    yield f"- scale {low:g} to {'∞' if high is None else f'{high:g}'}, {metric.better} is better"
    threshold = "none (informational)" if metric.threshold is None else f"{metric.threshold:g}"
    yield f"- threshold {threshold}"
    yield f"- needs {', '.join(f'`{need}`' for need in metric.needs) or 'nothing'}"
    if metric.params:
        yield f"- parameters {', '.join(f'`{n}` = `{v!r}`' for n, v in metric.params.items())}"
    if metric.packages:
        yield f"- requires the package {', '.join(f'`{name}`' for name in metric.packages)}"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")
        sys.stdout.write(f"written: docs/reference/{name}\n")


if __name__ == "__main__":
    main()
