"""The forms in which a run can be read, for every command that prints one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module

from carob.report import run as plain
from carob.schema import MetricInfo, Run
from carob.schema.comparison import Comparison
from carob.schema.history import RunEntry

RUN_FORMS = ("csv", "md", "html", "junit", "sarif", "summary", "qa", "agents")
"""Besides text and JSON."""


def run_forms(
    run: Run,
    *,
    by: Sequence[str] = (),
    places: Callable[[], Mapping[str, tuple[str, int]]] = dict,
    metrics: Callable[[], Iterable[MetricInfo]] = tuple,
    earlier: Callable[[], Sequence[RunEntry]] = tuple,
    comparison: Comparison | None = None,
) -> Mapping[str, Callable[[], str]]:
    """What `render` chooses from. What only some forms need is asked for only by them."""
    return {
        "text": partial(plain.text, run, by),
        "csv": partial(plain.table, run),
        "md": lambda: _made("comment", "comment")(run),
        "html": lambda: _made("html.page", "page")(run, earlier=earlier(), comparison=comparison),
        "junit": lambda: _made("junit", "junit")(run),
        "sarif": lambda: _made("sarif_run", "run_sarif")(run, places()),
        "summary": lambda: _made("seed", "summary")(
            run, {one.name for one in metrics() if one.judged}
        ),
        "qa": lambda: _made("seed", "questions_and_answers")(run),
        "agents": lambda: _made("seed", "agents")(run),
    }


def _made(module: str, name: str) -> Callable[..., str]:
    """What makes a form, imported when the form is asked for: most runs are read as text."""
    return getattr(import_module(f"carob.report.{module}"), name)
