"""Everything that is wrong with a golden file, each problem with its place.

A file of rows is checked row by row, in memory that does not grow with it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.datasets import locate
from carob.datasets.document_types import item_shape, member, names
from carob.datasets.duplicate_keys import doubled
from carob.datasets.formats import ChecksFrame, Format, list_key
from carob.datasets.ids import Repeated, mark
from carob.datasets.lens import Lens
from carob.datasets.read import Opened, open_golden
from carob.datasets.scenarios import Catalogue, find_catalogue, read_catalogue
from carob.datasets.shape_errors import problems, unknown
from carob.datasets.sidecar import read_aside
from carob.datasets.source import Row
from carob.errors import CarobError, FormatError, UsageError
from carob.files.collector import collector_paused
from carob.schema import Case, Json, Problem, Validation
from carob.text.spelling import meant

LIMIT = 1000
"""How many problems are named; the others are counted."""
ENOUGH = 10 * LIMIT
"""After how many errors the check gives up; after warnings never, the file may still be valid."""


def validate(
    path: Path,
    formats: Sequence[Format],
    *,
    name: str | None = None,
    agents: Collection[str] | None = None,
    catalogue: Path | None = None,
) -> Validation:
    """Check a golden file; what cannot be read at all is a problem as well."""
    known = read_catalogue(catalogue) if catalogue else None
    try:
        with collector_paused():
            opened = open_golden(path, formats, name)
    except UsageError:
        raise
    except CarobError as error:
        problem = _problem(error, path)
        return Validation(path=str(path), format=None, valid=False, cases=0, problems=(problem,))
    check = _Check(opened, agents, known or find_catalogue(path))
    check.run()
    return check.result()


@dataclass
class _Check:
    """One file under examination."""

    opened: Opened
    agents: Collection[str] | None
    catalogue: Catalogue | None
    found: list[Problem] = field(default_factory=list[Problem])
    count: int = 0
    errors: int = 0
    cases: int = 0

    def run(self) -> None:
        try:
            self._check_frame()
            self._check_rows()
            if not self.cases and not self.errors:
                self._note(self._empty())
        except CarobError as error:  # a table that ends within a quoted cell, a damaged archive
            if not self._is_known(error.where):
                self._note(_problem(error, self.opened.source.path))

    def _empty(self) -> Problem:
        key = list_key(self.opened.source.document, self.opened.format.items_keys)
        where = f"$.{key}" if key else "$"
        return Problem(where=where, message="there are no cases", severity="warning")

    def result(self) -> Validation:
        """What was found, in the order of the file."""
        data = self.opened.source.data if self.opened.container == "document" else b""
        found = _in_order(self.found, data)
        if self.count > len(found):
            rest = f"{self.count - len(found)} more problems"
            enough = f"{rest}, and the cases after {self.cases} are not checked"
            more = enough if self.errors >= ENOUGH else f"{rest}, which are not listed"
            found.append(Problem(where="", message=more, severity="note"))
        return Validation(
            path=str(self.opened.source.path),
            format=self.opened.format.name,
            valid=not self.errors,
            cases=self.cases,
            problems=tuple(found),
        )

    def _note(self, problem: Problem) -> None:
        self.count += 1
        self.errors += problem.severity == "error"
        if len(self.found) < LIMIT:
            self.found.append(problem)

    def _is_known(self, where: str | None) -> bool:
        return any(problem.where == where for problem in self.found)

    def _check_frame(self) -> None:
        source, form, frame = self.opened.source, self.opened.format, self.opened.frame
        if self.opened.container != "document":
            read_aside(source.path)
        else:
            whole = frame if isinstance(source.document, dict) else source.document
            self._note_all(problems(whole, form.shape))
        self._note_all(doubled(source.data))
        if self.opened.container == "table":
            self._note_all(unknown(source.columns, form.shape), "line 1 $")
        if isinstance(form, ChecksFrame):
            self._note_all(form.check_frame(frame, source.path))
        if not self.errors:
            form.header(self.opened.container, source.stem).get(frame)

    def _check_rows(self) -> None:
        repeated = Repeated()
        for place, row in self._rows():
            if self.errors >= ENOUGH:
                return
            self.cases += 1
            if row.error:
                self._note(_problem(row.error, self.opened.source.path))
                continue
            self._note_all(doubled(row.data), place)
            case = self._check_item(place, row.value)
            name = _name(case, row.value)
            if name and not self.opened.format.derives_ids:
                repeated.see(name.unique)
        marks = repeated.marks()
        if marks:
            self._check_repeated(marks)

    def _rows(self) -> Iterator[tuple[str, Row]]:
        """The cases, each with the place of its `$`."""
        document = self.opened.source.document
        key = list_key(document, self.opened.format.items_keys)
        for index, row in enumerate(self.opened.items()):
            member = f"$.{key}[{index}]" if key else f"$[{index}]"
            place = "$" if row.value is document else member
            yield place if self.opened.container == "document" else f"line {row.line} $", row

    def _check_item(self, place: str, item: Json) -> Case | None:
        before, form = self.errors, self.opened.format
        if shape := self._item_shape:
            self._note_all(problems(self._known_cells(item), shape), place)
        self._note_all(form.check(item), place)
        try:
            case = self._lens.get(item)
        except FormatError as error:
            if self.errors == before:
                problem = Problem(where=error.where or "$", message=error.message, hint=error.hint)
                self._note_all([problem], place)
            return None
        self._note_all(self._check_names(case, item), place)
        return case

    def _note_all(self, found: Iterable[Problem], place: str = "$") -> None:
        for problem in found:
            where = problem.where and place + problem.where.removeprefix("$")
            self._note(msgspec.structs.replace(problem, where=where))

    @cached_property
    def _lens(self) -> Lens[Case]:
        return self.opened.format.cases(self.opened.container)

    @cached_property
    def _item_shape(self) -> type | None:
        form = self.opened.format
        if self.opened.container != "document":
            return form.shape
        key = list_key(self.opened.source.document, form.items_keys)
        return item_shape(form.shape, key) if key else None

    def _known_cells(self, item: Json) -> Json:
        """A row without the columns that were checked with the header."""
        if self.opened.container != "table" or not isinstance(item, dict):
            return item
        known = names(self.opened.format.shape)
        return {name: cell for name, cell in item.items() if name in known}

    def _check_names(self, case: Case, item: Json) -> Iterator[Problem]:
        for agent in case.agents or ():
            if self.agents is not None and agent not in self.agents:
                yield Problem(
                    where=_place(item, agent),
                    message=f"no agent {agent!r}",
                    hint=meant(agent, self.agents) or f"the agents are {_listing(self.agents)}",
                )
        scenario = case.metadata.get("scenario_id")
        if self.catalogue and isinstance(scenario, str) and scenario not in self.catalogue.ids:
            yield Problem(
                where=_place(item, scenario),
                message=f"no scenario {scenario!r} in {self.catalogue.path.name}",
                hint=meant(scenario, self.catalogue.ids),
            )

    def _check_repeated(self, marks: frozenset[int]) -> None:
        """Read once more, to name the place of the first case that has an id."""
        again = self._again(marks)
        listed = list(islice(again, LIMIT))
        lines = locate.lines(self.opened.source.data, {earlier for _, earlier, _ in listed})
        for place, earlier, problem in listed:
            line = f"line {lines[earlier]}" if earlier in lines else earlier.removesuffix(" $")
            message = f"{problem.message}, first on {line}"
            self._note_all([msgspec.structs.replace(problem, message=message)], place)
        self.count += sum(1 for _ in again)

    def _again(self, marks: frozenset[int]) -> Iterator[tuple[str, str, Problem]]:
        """The cases whose ids were there before: their places, and those of the first ones."""
        first: dict[str, str] = {}
        for place, row in self._rows():
            try:
                case = None if row.error else self._lens.get(row.value)
            except FormatError:
                case = None
            name = _name(case, row.value)
            if name is None or mark(name.unique) not in marks:
                continue
            earlier = first.setdefault(name.unique, place)
            if earlier != place:
                yield place, earlier, _repeated(name.id, row.value)


class _Name(NamedTuple):
    """The id of a case, and what must not be there twice: several recordings of one case may."""

    id: str
    unique: str


def _name(case: Case | None, item: Json) -> _Name | None:
    """A case that cannot be read may still state its id."""
    if case:
        recording = case.recording.id if case.recording else ""
        return _Name(case.id, f"{case.id}\0{recording}")
    stated = [member(item, name)[1] for name in ("id", "eval_id", "case_id")]
    found = next((name for name in stated if isinstance(name, str)), None)
    return _Name(found, f"{found}\0") if found is not None else None


def _repeated(name: str, item: Json) -> Problem:
    return Problem(
        where=_place(item, name),
        message=f"the id {name!r} is there twice",
        hint="give each case an id of its own",
    )


def _place(item: Json, value: str) -> str:
    """The place of a name in a case: its member, or one of a member of it."""
    for key, found in item.items() if isinstance(item, dict) else ():
        if found == value:
            return f"$.{key}"
        if isinstance(found, list) and value in found:
            return f"$.{key}[{found.index(value)}]"
        if isinstance(found, dict):
            inner = next((name for name, other in found.items() if other == value), None)
            if inner is not None:
                return f"$.{key}.{inner}"
    return "$"


def _listing(known: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(known)[:20])


def _problem(error: CarobError, path: Path) -> Problem:
    where = (error.where or "").removeprefix(str(path)).strip()
    return Problem(where=where, message=error.message, hint=error.hint)


def _in_order(found: list[Problem], data: bytes) -> list[Problem]:
    """The problems by line; those of a document get their lines here, in one pass."""
    lines = (
        locate.lines(data, {problem.where for problem in found if problem.where}) if data else {}
    )
    placed = [
        msgspec.structs.replace(problem, where=f"line {lines[problem.where]} {problem.where}")
        if problem.where in lines
        else problem
        for problem in found
    ]
    return sorted(placed, key=_line)


def _line(problem: Problem) -> int:
    found = re.match(r"line (\d+)", problem.where)
    return int(found[1]) if found else 0
