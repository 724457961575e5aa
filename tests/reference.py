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
from tests.agreement import Agreement, measured_agreement
from tests.limits import JUDGED, OFFLINE
from tests.rest_reference import rest_lines

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "reference"


def pages() -> dict[str, str]:
    """Return the text of each page by file name."""
    generated = {
        "commands.md": _commands(),
        "formats.md": _formats(),
        "metrics.md": _metrics(),
        "rest.md": rest_lines(),
    }
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
    yield _AGREEMENT_NOTE
    agreement = measured_agreement()
    yield "| metric | what it sees | what it cannot see | measured agreement | role |"
    yield "|---|---|---|---|---|"
    for metric in metrics.metrics():
        yield _row(metric, agreement.get(metric.name))
    yield "\nNeeds that start with `case.` refer to the golden case, all others to the trace."
    for metric in metrics.metrics():
        yield from _metric(metric)


_AGREEMENT_NOTE = """\
A metric with a threshold decides whether a case passes; one without is informational. A metric
that compares text sees words, not meaning: know what it cannot see before you let it decide.

Agreement was measured on short, made-up texts in 12 languages. They were labelled before the
metrics were changed, and no metric was adjusted to them. About half are wrong, most of those in
one word: a number, a unit, a currency, a sign, a date, a name, an opposite or a negation. The
others are right, in other words or in another notation. The table gives the accuracy, Cohen's κ
(1 is full agreement, 0 is what chance gives) and the number of texts. Real texts are longer and
harder: expect less, and calibrate judges on your own data with `carob calibrate`.

`bleu`, `chrf`, `response_match_score` and `rouge_l` are compared with the labels of `factuality`.
They are worse than chance there: a wrong answer differs from the expected one in one word, a good
one in many. `hallucination` is cut at 0.7. A dash means that there is nothing to label: the metric
counts, or compares exactly.
"""


def _row(metric: MetricInfo, agreement: Agreement | None) -> str:
    limits = JUDGED if metric.judged else OFFLINE[metric.name]
    measured = "depends on the judge" if metric.judged else "—"
    if metric.name == "semantic_similarity":
        measured = "depends on the embedding model"
    if agreement:
        measured = f"{agreement.accuracy:.2f}, κ {agreement.kappa:.2f} ({agreement.size})"
    role = "informational" if metric.threshold is None else "deciding"
    cells = (f"`{metric.name}`", *limits, measured, role)
    return f"| {' | '.join(cells)} |"


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
