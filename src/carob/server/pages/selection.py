"""What can be done with several cases of a run: run them again, review them, or capture them as
regression cases."""

from __future__ import annotations

import shlex
from typing import Literal

from carob.api.golden.regression_draft import (
    Regression,
    RegressionBatch,
    add_regressions,
    preview_failed_cases,
)
from carob.api.review import create_queue
from carob.api.serving.run_jobs import list_targets
from carob.api.views.selected_cases import (
    SelectedCases,
    command_again,
    find_scoring_metric,
    request_again,
    select_cases,
)
from carob.report.markup import Child, Markup, join, tag
from carob.report.text import count
from carob.schema import Run
from carob.server.binding import Query
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, dataset_choice, rows_table, selection_group
from carob.server.pages.regression import ADD_KEYS, capture_command, dataset_names
from carob.server.pages.run_cases import CaseListQuery
from carob.server.paths import RunPath, parse_places, places_text
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_MAX_CASES = 1_000
"""Cases that one address can name."""


class SelectionForm(CaseListQuery, frozen=True, kw_only=True):
    """The selected cases; without any, those that the filter selects."""

    do: Literal["again", "review", "capture"]
    place: tuple[int, ...] = ()
    target: str = ""
    """The live agent to ask again; without one, the traces of the run are scored again."""


class RegressionsQuery(Query, frozen=True):
    """Positions of cases in the run, and the dataset that regression cases are added to."""

    places: str
    dataset: str | None = None


@pages.post("/runs/{run}/selected")
def act_on_cases(workspace: Workspace, path: RunPath, form: SelectionForm) -> Redirect:
    """Do something with the selected cases."""
    selected = select_cases(
        path.run,
        form.place,
        form.to_filter(),
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    if not selected.places:
        raise RequestError(422, "no case is selected", hint="change the filter")
    if form.do == "again":
        return _run_again(workspace, selected, form.target or None)
    if form.do == "review":
        return _review(workspace, selected, form)
    places = places_text(_few(selected))
    return Redirect(address("runs", selected.run.id, "regressions", places=places))


def _run_again(workspace: Workspace, selected: SelectedCases, target: str | None) -> Redirect:
    request = request_again(selected, target=target)
    if target is None:
        job = workspace.jobs.rescore(workspace.sources, selected.run.id, request)
    else:
        job = workspace.jobs.start(workspace.sources, request)
    return Redirect(address("jobs", job.id))


def _review(workspace: Workspace, selected: SelectedCases, form: SelectionForm) -> Redirect:
    """Review by the metric of the filter, or by the one that most of the cases did not pass."""
    deciding = [spec.name for spec in selected.run.metrics if spec.threshold is not None]
    failed = [name for name in selected.failed_metrics if name in deciding]
    candidates = [form.metric] if form.metric else [*failed, *deciding]
    metric = find_scoring_metric(selected, candidates, store=workspace.store)
    if metric is None:
        raise RequestError(422, "no metric with a threshold scored these cases")
    queue = create_queue(selected.run.id, metric, store=workspace.store)
    everything = len(selected.places) == selected.run.summary.cases.total
    only = None if everything else places_text(_few(selected))
    return Redirect(address("review", queue.id, only=only))


def _few(selected: SelectedCases) -> tuple[int, ...]:
    if len(selected.places) > _MAX_CASES:
        hint = "narrow the filter, or select some of them"
        message = f"{len(selected.places):,} cases are too many for one page"
        raise RequestError(422, f"{message}, at most {_MAX_CASES:,}", hint=hint)
    return selected.places


@pages.get("/runs/{run}/regressions")
def preview_cases(workspace: Workspace, path: RunPath, query: RegressionsQuery) -> Page:
    """Show the regression cases that the selected cases would become."""
    batch = _preview(workspace, path, query)
    return Page(
        title=f"Regression cases of {path.run}",
        section="Runs",
        crumbs=(
            ("Runs", "/runs"),
            (path.run, address("runs", path.run)),
            ("Regression cases", ""),
        ),
        content=_content(workspace, path.run, query, batch),
        command=capture_command(workspace, path.run, (entry.failed for entry in batch.addable))
        if batch.addable
        else None,
        keys=ADD_KEYS if batch.addable else ADD_KEYS[1:],
    )


@pages.post("/runs/{run}/regressions")
def add_cases(workspace: Workspace, path: RunPath, form: RegressionsQuery) -> Redirect:
    """Add the regression cases to the draft."""
    batch = _preview(workspace, path, form)
    if not batch.addable:
        raise RequestError(409, "nothing to add", hint="the dataset covers these failures already")
    add_regressions(workspace.folder, batch.addable)
    last = batch.addable[-1].case.id
    return Redirect(address("datasets", batch.dataset, accepted=last, added=len(batch.addable)))


def _preview(workspace: Workspace, path: RunPath, query: RegressionsQuery) -> RegressionBatch:
    places = parse_places(query.places)
    if not places or len(places) > _MAX_CASES:
        raise RequestError(422, f"{len(places):,} cases, expected 1 to {_MAX_CASES:,}")
    return preview_failed_cases(
        workspace.folder,
        path.run,
        tuple(dict.fromkeys(places)),
        dataset=query.dataset,
        store=workspace.store,
    )


def _content(
    workspace: Workspace, run: str, query: RegressionsQuery, batch: RegressionBatch
) -> list[Child]:
    hidden = tag("input", type="hidden", name="places", value=query.places)
    number = len(batch.addable)
    add = tag(
        "form",
        hidden,
        tag("input", type="hidden", name="dataset", value=batch.dataset),
        tag(
            "p",
            tag(
                "button",
                f"Add {count(number, 'case')} to the draft of {batch.dataset}",
                type="submit",
                class_="gold",
                autofocus=True,
            ),
            " ",
            tag("span", "They wait there for review.", class_="quiet"),
        ),
        method="post",
        action=address("runs", run, "regressions"),
    )
    nothing = tag("p", "Nothing to add: see why below.", class_="golden-edge")
    return [
        tag("h1", "Capture as regression cases"),
        tag(
            "p",
            "Each case is cut after the turn in which the agent first went wrong. Personal data "
            "and secrets are masked.",
            class_="lead",
        ),
        tag(
            "form",
            hidden,
            dataset_choice(dataset_names(workspace), batch.dataset),
            tag("button", "Show", type="submit"),
            action=address("runs", run, "regressions"),
            class_="filters",
        ),
        add if number else nothing,
        _regression_table(run, batch) if batch.regressions else None,
        _left_out(run, batch),
    ]


def _regression_table(run: str, batch: RegressionBatch) -> Markup:
    head: list[Child] = ["failed case", "went wrong", "becomes", "#turns kept"]
    rows = [
        tag(
            "tr",
            tag(
                "th",
                tag("a", entry.failed, href=address("runs", run, "cases", entry.failed)),
                scope="row",
                dir="auto",
            ),
            tag("td", _divergence(entry), dir="auto"),
            tag("td", _outcome(entry), dir="auto"),
            tag("td", f"{len(entry.case.turns):,} of {entry.turns:,}", class_="n"),
        )
        for entry in batch.regressions
    ]
    return rows_table("Regression cases", head, rows, "list")


def _divergence(entry: Regression) -> str:
    if entry.divergence.what == "not located":
        return "no turn is known to differ"
    return f"turn {entry.divergence.turn + 1}: {entry.divergence.what}"


def _outcome(entry: Regression) -> Markup:
    if entry.duplicate is None:
        notes = [
            text
            for shown, text in (
                (entry.is_masked, "personal data masked"),
                (entry.parent is None, "nothing is expected yet: no golden case matches"),
            )
            if shown
        ]
        note = tag("small", " · ".join(notes)) if notes else None
        return join([tag("code", entry.case.id), note])
    link = address("datasets", entry.dataset, "cases", entry.duplicate)
    name = tag("a", entry.duplicate, href=link)
    return tag("span", "nothing: ", name, " has the same messages", class_="quiet")


def _left_out(run: str, batch: RegressionBatch) -> Markup | None:
    if not batch.left_out:
        return None
    rows = [
        tag(
            "tr",
            tag("th", tag("a", name, href=address("runs", run, "cases", name)), scope="row"),
            tag("td", why),
            dir="auto",
        )
        for name, why in batch.left_out
    ]
    title = f"{count(len(rows), 'case')} left out"
    return tag("section", tag("h2", title), rows_table(title, ["case", "why"], rows))


def selection_bar(workspace: Workspace, run: Run, matched: int) -> Markup:
    """Return the buttons for the selected cases of a run, for the form around its table."""
    again = command_again(run, workspace.folder)
    command = shlex.join(("carob", *again, *workspace.store_arguments)) if again else None
    targets = [tag("option", f"live agent {name}", value=name) for name in list_targets()]
    recorded = tag("option", "traces of this run", value="")
    source = tag(
        "label",
        tag("span", "on", class_="inline"),
        tag("select", [recorded, *targets], name="target"),
    )
    has_golden = command is not None  # otherwise nothing here knows what is expected
    deciding = any(spec.threshold is not None for spec in run.metrics)
    return selection_group(
        f"all {matched:,} shown" if matched > 1 else "the case shown",
        _button("again", "Run again", key="v") if has_golden else None,
        source if has_golden and targets else None,
        _button("review", "Review") if deciding else None,
        _button("capture", "Capture as regression cases…", key="r") if has_golden else None,
        command=command,
    )


def _button(action: str, label: str, *, key: str | None = None) -> Markup:
    content: list[Child] = [tag("kbd", key) if key else None, label]
    return tag("button", content, type="submit", name="do", value=action, data_key=key)
