"""The forms in which a run can be read, for every command that prints one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from karat.report import run as plain
from karat.report import seed
from karat.report.comment import comment
from karat.report.html.page import page
from karat.report.junit import junit
from karat.report.sarif_run import Places, run_sarif
from karat.schema import MetricInfo, Run
from karat.schema.comparison import Comparison
from karat.schema.history import KeptRun

RUN_FORMS = ("csv", "md", "html", "junit", "sarif", "summary", "qa", "agents")
"""Besides text and JSON."""


def run_forms(
    run: Run,
    *,
    by: Sequence[str] = (),
    places: Callable[[], Places] = dict,
    metrics: Callable[[], Iterable[MetricInfo]] = tuple,
    earlier: Callable[[], Sequence[KeptRun]] = tuple,
    comparison: Comparison | None = None,
) -> Mapping[str, Callable[[], str]]:
    """What `render` chooses from. What only some forms need is asked for only by them."""
    return {
        "text": partial(plain.text, run, by),
        "csv": partial(plain.table, run),
        "md": partial(comment, run),
        "html": lambda: page(run, earlier=earlier(), comparison=comparison),
        "junit": partial(junit, run),
        "sarif": lambda: run_sarif(run, places()),
        "summary": lambda: seed.summary(run, {one.name for one in metrics() if one.judged}),
        "qa": partial(seed.questions_and_answers, run),
        "agents": partial(seed.agents, run),
    }
