"""The forms in which a run can be printed. Each is a function from `ReportInputs` to text, or to
the parts of a text that may be larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from carob.errors import UsageError
from carob.lazy import load_object
from carob.report.layout import PLAIN, Display

if TYPE_CHECKING:
    from carob.schema import Comparison, MetricInfo, Run
    from carob.schema.history import RunEntry

# Modules by name, because most runs are printed as text and need none of the others.
RUN_FORMS: Mapping[str, str] = {
    "text": "carob.report.run:format_run",
    "json": "carob.report.run:format_run_json",
    "csv": "carob.report.run_csv:format_run_csv",
    "md": "carob.report.comment:format_comment",
    "html": "carob.report.html.page:format_page",
    "junit": "carob.report.junit:format_junit",
    "sarif": "carob.report.sarif:format_run_sarif",
    "summary": "carob.report.eval_summary:format_eval_summary",
    "qa": "carob.report.eval_summary:format_questions_and_answers",
    "agents": "carob.report.eval_summary:format_agents",
}
"""The built-in forms, as `package.module:function`."""


class ReportInputs(NamedTuple):
    """A run, and what some forms need besides it. The loaders are called only by those forms."""

    run: Run
    by: Sequence[str] = ()
    """Properties to break the text report down by."""
    load_case_lines: Callable[[], Mapping[str, tuple[str, int]]] = dict
    """File and line of each case in the golden data, by case id."""
    load_metrics: Callable[[], Iterable[MetricInfo]] = tuple
    load_earlier_runs: Callable[[], Sequence[RunEntry]] = tuple
    comparison: Comparison | None = None
    display: Display = PLAIN
    """Where the text report is shown."""


FormFunction = Callable[[ReportInputs], str | Iterable[str]]
FormFinder = Callable[[], Mapping[str, Callable[[], FormFunction]]]
"""Returns the forms of other packages: from names to functions that import them."""
_finders: dict[FormFinder, None] = {}


def add_form_finder(finder: FormFinder) -> None:
    """Ask the finder for further forms, when a form is not built in."""
    _finders[finder] = None


def form_names() -> tuple[str, ...]:
    """Return the names of all forms, built-in forms first."""
    return (*RUN_FORMS, *sorted(_find_installed_forms()))


def format_report(form: str, inputs: ReportInputs) -> str:
    """Return a run in one of the forms."""
    return "".join(report_parts(form, inputs))


def report_parts(form: str, inputs: ReportInputs) -> Iterable[str]:
    """Return a run in one of the forms, in parts that are made while they are written."""
    report = _load_form(form)(inputs)
    return [report] if isinstance(report, str) else report


def _load_form(form: str) -> FormFunction:
    if form in RUN_FORMS:
        return load_object(RUN_FORMS[form])
    installed = _find_installed_forms()
    if form in installed:
        return installed[form]()
    raise UsageError(f"unknown format {form!r}; expected one of: {', '.join(form_names())}")


def _find_installed_forms() -> dict[str, Callable[[], FormFunction]]:
    return {name: load for find in _finders for name, load in find().items()}
