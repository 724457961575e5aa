"""The editor of a case: a form beside the source text, problems at their line."""

from __future__ import annotations

import msgspec

from carob.api.golden.case_source import CaseSource, TurnFields, edit_fields, format_case, read_case
from carob.api.golden.drafts import NEW, get_case, put_case
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import Case, Problem, Turn
from carob.schema.draft import DraftCase
from carob.server.binding import Query
from carob.server.pages.dataset_case import GoldenCasePath, case_crumbs
from carob.server.pages.page import Fragment, Page, Pages, Redirect
from carob.server.pages.parts import address, problem_list
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

pages = Pages()
_ROWS = 26
_EMPTY = Case(id="new_case", turns=(Turn(user="", response="", tool_calls=()),))


class NewCasePath(Query, frozen=True):
    """A dataset."""

    name: str


class SourceForm(Query, frozen=True):
    """An edited case, and the digest of what was edited."""

    source: str
    revision: str = ""


class TurnsForm(Query, frozen=True, kw_only=True):
    """A case as fields. Fields of turns are lists, in the order of the turns."""

    revision: str
    id: str = ""
    """Of a new case."""
    user: tuple[str, ...] = ()
    response: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    tags: str = ""
    context: str = ""


@pages.get("/datasets/{name:path}/new")
def new_case(path: NewCasePath) -> Page:
    """Show an editor with an empty case."""
    return _source_page(path.name, None, format_case(_EMPTY), NEW, ())


@pages.post("/datasets/{name:path}/new")
def add_case(workspace: Workspace, path: NewCasePath, form: SourceForm) -> Page | Redirect:
    """Add a case to the draft."""
    parsed = read_case(form.source)
    if parsed.case is None:
        return _source_page(path.name, None, form.source, NEW, parsed.problems)
    put_case(workspace.folder, path.name, parsed.case, revision=NEW)
    return Redirect(address("datasets", path.name, accepted=parsed.case.id))


@pages.post("/datasets/{name:path}/new/fields")
def add_fields(workspace: Workspace, path: NewCasePath, form: TurnsForm) -> Redirect:
    """Add the case that the fields describe to the draft."""
    id = form.id.strip()
    if not id:
        raise RequestError(422, "a case needs an id", hint="go back and name it")
    put_case(workspace.folder, path.name, _read_fields(Case(id=id), form), revision=NEW)
    return Redirect(address("datasets", path.name, accepted=id))


@pages.post("/datasets/{name:path}/check")
def check_source(form: SourceForm) -> Fragment:
    """Return the problems of a text while it is typed."""
    return Fragment(_problems(read_case(form.source)))


@pages.get("/datasets/{name:path}/cases/{case:path}/edit")
def edit_case(workspace: Workspace, path: GoldenCasePath) -> Page:
    """Show the editor of a case."""
    draft = get_case(workspace.folder, path.name, path.case)
    text = format_case(draft.case)
    return _source_page(path.name, draft, text, draft.digest, read_case(text).problems)


@pages.post("/datasets/{name:path}/cases/{case:path}/edit")
def save_case(workspace: Workspace, path: GoldenCasePath, form: SourceForm) -> Page | Redirect:
    """Save the text of a case into the draft. A text with problems stays in the editor."""
    parsed = read_case(form.source)
    problems = parsed.problems
    if parsed.case is not None and parsed.case.id != path.case:
        message = f"the id is {parsed.case.id!r}, expected {path.case!r}"
        problems = (Problem(where="line 1", message=message), *problems)
        parsed = CaseSource(None, problems)
    if parsed.case is None:
        draft = get_case(workspace.folder, path.name, path.case)
        return _source_page(path.name, draft, form.source, form.revision, problems)
    put_case(workspace.folder, path.name, parsed.case, revision=form.revision)
    return Redirect(address("datasets", path.name, accepted=path.case))


@pages.post("/datasets/{name:path}/cases/{case:path}/fields")
def save_fields(workspace: Workspace, path: GoldenCasePath, form: TurnsForm) -> Redirect:
    """Save the fields of a case into the draft. What has no field stays as it is."""
    draft = get_case(workspace.folder, path.name, path.case)
    put_case(workspace.folder, path.name, _read_fields(draft.case, form), revision=form.revision)
    return Redirect(address("datasets", path.name, accepted=path.case))


def _read_fields(case: Case, form: TurnsForm) -> Case:
    rows = zip(form.user, form.response, form.calls, strict=False)
    turns = [TurnFields(*fields) for fields in rows]
    tags = [word.strip() for word in form.tags.split(",") if word.strip()]
    return edit_fields(case, turns, tags=tags, context=form.context or None)


def _problems(parsed: CaseSource) -> Child:
    if not parsed.problems:
        return tag("p", "No problems.", class_="quiet", role="status")
    return [
        tag("p", count(len(parsed.problems), "problem"), class_="quiet", role="status"),
        problem_list(parsed.problems),
    ]


def _source_page(
    name: str,
    draft: DraftCase | None,
    text: str,
    revision: str,
    problems: tuple[Problem, ...],
) -> Page:
    case = draft.case.id if draft else None
    where = ("datasets", name, "cases", case, "edit") if case else ("datasets", name, "new")
    source = tag(
        "form",
        tag("h2", "Source"),
        tag("input", type="hidden", name="revision", value=revision),
        tag(
            "label",
            tag("span", "the case as JSON"),
            tag(
                "textarea",
                text,
                name="source",
                rows=str(_ROWS),
                spellcheck="false",
                id="source",
                dir="ltr",
            ),
        ),
        tag("button", "Save the source to the draft", type="submit", class_="gold"),
        tag("div", _problems(CaseSource(None, problems)), id="problems"),
        method="post",
        action=address(*where),
        data_check=address("datasets", name, "check"),
    )
    fatal = any(problem.severity == "error" for problem in problems)
    return Page(
        title=f"Edit {case}" if case else "New case",
        section="Datasets",
        crumbs=case_crumbs(name, case, "Edit") if case else case_crumbs(name, "New case"),
        keys=(("esc", "back"),),
        content=[
            tag("h1", tag("bdi", case) if case else "New case"),
            tag("p", f"Review: {draft.review}. A change makes it a draft again.", class_="quiet")
            if draft
            else None,
            tag("div", _fields(name, draft), source, class_="editor"),
        ],
        status=422 if fatal else 200,
    )


def _fields(name: str, draft: DraftCase | None) -> Markup:
    """Return the form of a case, or of a new one."""
    case = draft.case if draft else _EMPTY
    where = ("cases", case.id, "fields") if draft else ("new", "fields")
    turns = [_turn_fields(number, turn) for number, turn in enumerate(case.turns, 1)]
    id = tag(
        "label",
        tag("span", "id, which no other case of the dataset has"),
        tag("input", name="id", required=True, autofocus=True, dir="auto"),
    )
    return tag(
        "form",
        tag("h2", "Form", class_="golden"),
        tag("input", type="hidden", name="revision", value=draft.digest if draft else NEW),
        None if draft else id,
        turns,
        tag(
            "template",
            _turn_fields(len(turns) + 1, Turn(), added=True),
            id="turn-template",
        ),
        tag("button", "Add a turn", type="button", data_adds="turn-template", hidden=True),
        _field("context", "context", case.context or ""),
        tag(
            "label",
            tag("span", "tags, separated by commas"),
            tag("input", name="tags", value=", ".join(case.tags), dir="auto"),
        ),
        tag("button", "Save the form to the draft", type="submit", class_="gold"),
        method="post",
        action=address("datasets", name, *where),
    )


def _turn_fields(number: int, turn: Turn, *, added: bool = False) -> Markup:
    calls = "" if turn.tool_calls is None else _calls_text(turn)
    return tag(
        "fieldset",
        tag("legend", "New turn" if added else f"Turn {number}"),
        _field("user", "user says", turn.user or ""),
        _field("response", "agent should answer", turn.response or ""),
        tag(
            "label",
            tag("span", "expected tool calls, as JSON; leave empty to expect nothing of tools"),
            tag("textarea", calls, name="calls", rows=str(min(max(calls.count("\n") + 1, 1), 12))),
        ),
        data_row="1",
    )


def _field(name: str, label: str, value: str) -> Markup:
    rows = str(min(max(len(value) // 70 + value.count("\n") + 1, 1), 14))
    area = tag("textarea", value, name=name, rows=rows, dir="auto", class_="prose-field")
    return tag("label", tag("span", label), area)


def _calls_text(turn: Turn) -> str:
    calls = [{"name": call.name, "args": call.args} for call in turn.tool_calls or ()]
    return msgspec.json.format(msgspec.json.encode(calls), indent=2).decode()
