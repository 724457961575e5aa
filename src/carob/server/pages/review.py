"""Review: one answer at a time; the metric's opinion stays hidden until the person has decided."""

from __future__ import annotations

from typing import Literal

from carob.api.calibration import save_calibration
from carob.api.golden.drafts import approve_scored_case
from carob.api.review import (
    calibrate_queue,
    get_item,
    get_queue,
    label_item,
    undo_label,
)
from carob.api.views.case import view_case
from carob.report.html.parts import breakable
from carob.report.markup import Markup, join, tag
from carob.report.text import count
from carob.schema.review import ReviewItem, ReviewLabel, ReviewQueue, ReviewTurn
from carob.server.binding import Query
from carob.server.pages.conversation import plain_call, plain_turn
from carob.server.pages.page import Page, Pages, Redirect
from carob.server.pages.parts import address, score, stamp
from carob.server.paths import QueuePath, parse_places
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_LABELS: tuple[tuple[ReviewLabel, str, str], ...] = (
    ("passed", "1", "Correct"),
    ("failed", "2", "Wrong"),
    ("unsure", "3", "Unsure"),
)


class QueueQuery(Query, frozen=True):
    """An item, and who looks at it."""

    item: int | None = None
    by: str = ""
    only: str | None = None
    """The items to look at, separated by commas; all if left out."""


class LabelForm(Query, frozen=True):
    """What a person says about an item."""

    item: int
    label: Literal["passed", "failed", "unsure", "undo", "approve"]
    by: str = ""
    note: str = ""
    only: str | None = None


class CalibrateForm(Query, frozen=True):
    """Who looks at the queue."""

    by: str = ""


@pages.get("/review/{queue}")
def show_item(workspace: Workspace, path: QueuePath, query: QueueQuery) -> Page:
    """Show one item of a queue."""
    queue = get_queue(path.queue, store=workspace.store)
    item = get_item(
        path.queue,
        query.item,
        by=query.by,
        only=parse_places(query.only),
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )
    return Page(
        title=f"Review {queue.metric}, item {item.number}",
        section="Review",
        crumbs=(("Review", "/review"), (queue.metric, "")),
        content=[
            tag("h1", breakable(queue.metric), f": item {item.number:,} of {_total(item, query)}"),
            _without_score(queue, item, query),
            _progress(queue, item),
            tag(
                "section",
                _neighbours(queue, item, query),
                _turns(item),
                _opinion(item),
                _decision(queue, item, query),
                class_="review",
                data_arrows="1",
                aria_label="Item",
            ),
            _after(queue, query.by),
        ],
        command=("calibrate", f"--queue={queue.id}", "--no-store", *workspace.store_arguments)
        if queue.kappa
        else None,
        keys=(
            ("1", "correct"),
            ("2", "wrong"),
            ("3", "unsure"),
            ("n", "note"),
            ("← →", "item"),
            ("s", "next that waits"),
            ("u", "undo"),
            *((("a", "approve golden"),) if item.has_golden else ()),
        ),
    )


@pages.post("/review/{queue}")
def decide_item(workspace: Workspace, path: QueuePath, form: LabelForm) -> Redirect:
    """Store a label, take one back, or approve the golden case."""
    store, by = workspace.store, " ".join(form.by.split())
    if not by:
        raise RequestError(422, "a label needs a name", hint="go back and say who you are")
    if form.label == "undo":
        undo_label(path.queue, form.item, by=by, store=store)
    elif form.label == "approve":
        _approve(workspace, path.queue, form)
    else:
        label_item(path.queue, form.item, form.label, by=by, note=form.note, store=store)
    return Redirect(address("review", path.queue, item=form.item, by=by, only=form.only))


@pages.post("/review/{queue}/calibrate")
def save_queue(workspace: Workspace, path: QueuePath, form: CalibrateForm) -> Redirect:
    """Save the calibration where gates look for it."""
    save_calibration(calibrate_queue(path.queue, store=workspace.store), store=workspace.store)
    return Redirect(address("review", path.queue, by=form.by))


def _approve(workspace: Workspace, queue: str, form: LabelForm) -> None:
    run = get_queue(queue, store=workspace.store).run
    item = get_item(queue, form.item, by=form.by, store=workspace.store)
    view = view_case(run, item.case, store=workspace.store)
    if view.run.dataset is None:
        raise RequestError(409, "the run has no golden data")
    name, scored = view.run.dataset.name, view.attempts[0].result.digest
    approve_scored_case(workspace.folder, name, item.case, scored=scored, by=form.by)


def _progress(queue: ReviewQueue, item: ReviewItem) -> Markup:
    kappa = "κ not known yet"
    if queue.kappa:
        low, high = queue.kappa.interval
        kappa = f"κ {score(queue.kappa.value)} [{score(low)}, {score(high)}]"
    done = "Nothing is waiting. " if item.own and item.open is None else ""
    text = f"{done}{count(queue.labelled, 'label')}, {kappa}"
    return join(
        [
            tag(
                "p",
                tag("strong", text),
                " · ",
                gate_text(queue),
                class_="lead meter",
                role="status",
            ),
            kappa_bar(queue),
            tag(
                "small",
                "κ from −1 to 1; the gold line is what its lower bound must reach.",
                class_="quiet",
            )
            if queue.kappa
            else None,
        ]
    )


def gate_text(queue: ReviewQueue) -> str:
    """Say whether a metric may gate, or what is missing until it may."""
    if queue.is_calibrated:
        return f"may gate: the lower bound reaches {score(queue.required)}"
    if queue.missing is not None:
        more = count(queue.missing, "more label")
        return f"about {more} until it may gate: the lower bound must reach {score(queue.required)}"
    if queue.kappa is None:
        return "label some answers as correct and some as wrong"
    return f"may not gate: more such labels will not reach {score(queue.required)}"


def kappa_bar(queue: ReviewQueue) -> Markup | None:
    """Draw the interval of kappa from −1 to 1, and what its lower bound must reach."""
    if queue.kappa is None:
        return None

    def x(value: float) -> float:
        return 50 + 50 * max(-1.0, min(value, 1.0))

    low, high = queue.kappa.interval
    fill = "fill-passed" if queue.is_calibrated else "fill-unscored"
    return tag(
        "svg",
        tag("rect", x=0, y=6, width=100, height=2, class_="track"),
        tag("rect", x=x(low), y=4, width=max(x(high) - x(low), 0.8), height=6, class_=fill),
        tag("line", x1=x(queue.required), x2=x(queue.required), y1=0, y2=14, class_="need"),
        viewBox="0 0 100 14",
        preserveAspectRatio="none",
        class_="kappa",
        role="img",
        aria_label=f"kappa from {score(low)} to {score(high)}, required {score(queue.required)}",
    )


def _total(item: ReviewItem, query: QueueQuery) -> str:
    return f"{item.items:,} selected" if query.only else f"{item.items:,}"


def _without_score(queue: ReviewQueue, item: ReviewItem, query: QueueQuery) -> Markup | None:
    """Say so if some of the selected cases are not among the items."""
    left_out = len(set(parse_places(query.only))) - item.items
    if left_out <= 0:
        return None
    have = "has" if left_out == 1 else "have"
    text = f"{count(left_out, 'selected case')} {have} no score of {queue.metric} to compare with."
    return tag("p", text, class_="note")


def _neighbours(queue: ReviewQueue, item: ReviewItem, query: QueueQuery) -> Markup:
    def link(place: int | None, label: str, rel: str) -> Markup | None:
        where = address("review", queue.id, item=place, by=query.by, only=query.only)
        return tag("a", label, href=where, rel=rel) if place is not None else None

    waiting = item.open
    case = tag("a", item.case, href=address("runs", queue.run, "cases", item.case), dir="auto")
    # The page of the case shows the score: nobody should open it by accident before deciding.
    shown = case if item.own else tag("bdi", item.case)
    return tag(
        "nav",
        link(item.previous, "‹ previous", "prev"),
        link(item.next, "next ›", "next"),
        tag(
            "a",
            "next that waits",
            href=address("review", queue.id, item=waiting, by=query.by, only=query.only),
            data_key="s",
        )
        if waiting is not None
        else None,
        tag("span", "case ", shown, class_="quiet"),
        class_="pages",
        aria_label="Items",
    )


def _turns(item: ReviewItem) -> Markup:
    if not item.turns:
        text = "The conversation of this answer was not stored; --keep-traces stores all of them."
        return tag("p", text, class_="note")
    return join(
        [
            tag(
                "article",
                plain_turn("user", turn.user),
                _answers(turn),
                class_="turn",
            )
            for turn in item.turns
        ]
    )


def _answers(turn: ReviewTurn) -> Markup:
    """Return what the agent did, beside what is expected, if that is known."""
    actual = [map(plain_call, turn.actual_calls or ()), plain_turn("agent", turn.actual)]
    if turn.expected is None and turn.expected_calls is None:
        return tag("div", actual)
    golden = map(plain_call, turn.expected_calls or ())
    stated = plain_turn("golden", turn.expected) if turn.expected is not None else None
    return tag(
        "div", tag("div", golden, stated, class_="golden-edge"), tag("div", actual), class_="pair"
    )


def _opinion(item: ReviewItem) -> Markup:
    if item.own is None or item.score is None:
        return tag("p", "What the metric says is hidden until you have decided.", class_="note")
    agreed = item.own.label == item.score.status
    verdict = "" if item.own.label == "unsure" else "You agree. " if agreed else "You disagree. "
    return tag(
        "p",
        tag("strong", verdict),
        "The metric says ",
        stamp(item.score.status),
        f" ({score(item.score.value)}): ",
        tag("bdi", item.score.reason or "no reason given"),
        class_="note",
    )


def _decision(queue: ReviewQueue, item: ReviewItem, query: QueueQuery) -> Markup:
    own = item.own
    buttons = [
        tag(
            "button",
            tag("kbd", key),
            word,
            type="submit",
            name="label",
            value=label,
            data_key=key,
            aria_pressed="true" if own and own.label == label else "false",
        )
        for label, key, word in _LABELS
    ]
    undo = tag(
        "button", tag("kbd", "u"), "Undo", type="submit", name="label", value="undo", data_key="u"
    )
    approve = tag(
        "button",
        tag("kbd", "a"),
        "Approve golden",
        type="submit",
        name="label",
        value="approve",
        data_key="a",
        class_="gold",
    )
    note = tag("input", name="note", value=own.note if own else "", data_key="n", dir="auto")
    name = tag(
        "input", name="by", value=query.by, required=True, data_remember="1", autocomplete="name"
    )
    return tag(
        "form",
        tag("input", type="hidden", name="item", value=str(item.id)),
        tag("input", type="hidden", name="only", value=query.only) if query.only else None,
        buttons,
        tag("label", tag("span", "note"), note),
        tag("label", tag("span", "your name"), name),
        undo if own else None,
        approve if item.has_golden else None,
        method="post",
        action=address("review", queue.id),
        class_="decide",
    )


def _after(queue: ReviewQueue, by: str) -> Markup | None:
    if queue.kappa is None:
        return None
    form = tag(
        "form",
        tag("input", type="hidden", name="by", value=by),
        tag("button", "Save the calibration for gates", type="submit"),
        method="post",
        action=address("review", queue.id, "calibrate"),
    )
    return tag("div", form, class_="actions")
