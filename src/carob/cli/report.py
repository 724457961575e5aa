"""`carob report`: a run in any output format, or some of its cases."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal, get_args

import click
import msgspec

from carob import api
from carob.cli.names import METRIC, RUN
from carob.cli.options import F, command, golden_option, option, report_options, store_option
from carob.cli.output import emit_cases, emit_report, emit_result
from carob.cli.progress import progress_line
from carob.errors import UsageError
from carob.report import format_json_list
from carob.report.forms import ReportInputs
from carob.report.run import format_some_cases
from carob.schema import CaseResult, Status
from carob.schema.history import CasePage

_FORMS = ("text", "json", "csv")
"""The formats that can show some cases of a run. The others are about a whole run."""


def _filter_options(function: F) -> F:
    """Add the options that select cases of a run, as its page in the browser does."""
    options = [
        option(
            "--status", type=click.Choice(get_args(Status)), help="Only cases with this status."
        ),
        option(
            "-m", "--metric", type=METRIC, metavar="NAME", help="Only cases that it did not pass."
        ),
        option("--tag", metavar="TAG", help="Only cases whose golden case has this tag."),
        option(
            "--cause",
            metavar="KIND:SUBJECT",
            help="Only cases that failed for this cause, such as 'missing call:refund'.",
        ),
        option(
            "--text", metavar="WORDS", help="Only cases whose texts contain all of these words."
        ),
        option("--case", "cases", multiple=True, metavar="ID", help="Only this case. Repeatable."),
        option(
            "--sort",
            type=click.Choice(["worst", "dataset"]),
            help="Order of the selected cases.",
            show_default="worst",
        ),
    ]
    for add in reversed(options):
        function = add(function)
    return function


@command(
    "carob report run.json --format html -o report.html",
    "carob report latest --status failed",
)
@click.argument("run", type=RUN)
@_filter_options
@option(
    "--by",
    multiple=True,
    metavar="PROPERTY",
    help="Break down by a property that the run has groups for. Repeatable.",
)
@golden_option("Golden data, required by --format sarif.")
@store_option
@report_options
def report(
    run: str,
    status: Status | None,
    metric: str | None,
    tag: str | None,
    cause: str | None,
    text: str | None,
    cases: tuple[str, ...],
    sort: Literal["worst", "dataset"] | None,
    by: tuple[str, ...],
    golden: Path | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Show a run in any output format.

    RUN is a file written by `carob run --format json`, or a stored run: its id or the
    start of it, `latest`, `latest:DATASET`, `branch:NAME` or any other LABEL:VALUE.

    With --status, --metric, --tag, --cause, --text, --case or --sort, lists these cases
    after the verdict of the whole run, in the format text, json or csv.
    """
    is_filtered = any((status, metric, tag, cause, text, cases, sort))
    if is_filtered and form not in _FORMS:
        message = f"--format {form} shows whole runs"
        raise UsageError(message, hint=f"with a filter, expected one of: {', '.join(_FORMS)}")
    if form == "json" and not is_filtered:
        _emit_document(run, store, output)
        return
    with progress_line("reading the run") as line:
        progress = line.of("reading", unit_name=" cases")
        stored = api.history.find_run(run, store=store, progress=progress)
    api.history.check_groups(stored, by)
    inputs = ReportInputs(
        stored,
        by,
        load_case_lines=lambda: api.datasets.case_lines(golden) if golden else {},
        load_metrics=api.metrics.metrics,
        load_earlier_runs=lambda: api.history.earlier_runs(stored, store=store),
    )
    if not is_filtered:
        emit_report(form, inputs, output)
        return
    results = api.run_cases.filter_results(
        stored,
        status=status,
        metric=metric,
        tag=tag,
        cause=cause,
        text=text or "",
        cases=cases,
        order=sort or "worst",
        golden=golden,
    )
    _emit_cases(inputs, results, form, output)


def _emit_document(run: str, store: str | None, output: Path | None) -> None:
    """Write a run as it was stored, even if this version would write it differently."""
    with progress_line("reading the run") as line:
        progress = line.of("reading", unit_name=" cases")
        document = api.history.find_document(run, store=store, progress=progress)
    emit_cases(
        document.bodies, lambda bodies: format_json_list(document.head, "cases", bodies), output
    )


def _emit_cases(
    inputs: ReportInputs, results: tuple[CaseResult, ...], form: str, output: Path | None
) -> None:
    if form == "csv":
        part = msgspec.structs.replace(inputs.run, cases=results)
        emit_report(form, inputs._replace(run=part), output)
        return
    page = CasePage(items=results, next=None, total=len(results))
    emit_result(page, form, output, partial(format_some_cases, inputs, results))
