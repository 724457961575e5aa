"""Validate a golden file: every problem, with its location.

Files of rows are checked row by row, in memory that does not grow with the file.
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

from carob.datasets.case_checks import case_type, find_case_problems
from carob.datasets.document_types import find_member
from carob.datasets.duplicate_keys import find_duplicate_keys
from carob.datasets.formats import Format, FrameChecker, list_key
from carob.datasets.lens import Lens
from carob.datasets.read import GoldenFile, open_golden
from carob.datasets.scenarios import ScenarioCatalog, find_catalog, read_catalog
from carob.datasets.shape_errors import find_shape_errors, find_unknown_columns
from carob.datasets.sidecar import read_sidecar
from carob.datasets.source import Row
from carob.errors import CarobError, FormatError, UsageError
from carob.files.collector import collector_paused
from carob.files.digest_table import text_digest
from carob.files.ids import RepeatedIds
from carob.schema import Case, Json, Problem, Validation
from carob.schema.problem import ProgressListener, ignore
from carob.text.spelling import did_you_mean

LISTED_PROBLEMS = 1000
"""Maximum number of problems that are listed; further ones are counted."""
MAX_ERRORS = 10 * LISTED_PROBLEMS
"""Validation stops after this many errors. Warnings do not stop it: the file may be valid."""


def validate(
    path: Path,
    formats: Sequence[Format],
    *,
    name: str | None = None,
    agents: Collection[str] | None = None,
    catalogue: Path | None = None,
    profiles: Collection[str] | None = None,
    progress: ProgressListener = ignore,
) -> Validation:
    """Validate a golden file; a file that cannot be read at all is a problem, too."""
    catalog = read_catalog(catalogue) if catalogue else None
    try:
        with collector_paused():
            file = open_golden(path, formats, name, progress=progress)
    except UsageError:
        raise
    except CarobError as error:
        problem = _problem(error, path)
        return Validation(path=str(path), format=None, valid=False, cases=0, problems=(problem,))
    validator = _Validator(file, agents, catalog or find_catalog(path), profiles)
    validator.run()
    return validator.result()


@dataclass
class _Validator:
    """Validates one file."""

    file: GoldenFile
    agents: Collection[str] | None
    catalog: ScenarioCatalog | None
    profiles: Collection[str] | None
    problems: list[Problem] = field(default_factory=list[Problem])
    count: int = 0
    errors: int = 0
    cases: int = 0

    def run(self) -> None:
        try:
            self._check_frame()
            self._check_cases()
            if not self.cases and not self.errors:
                self._report(self._no_cases())
        except CarobError as error:  # a table that ends in a quoted cell, a truncated archive
            if not self._is_reported(error.where):
                self._report(_problem(error, self.file.source.path))

    def _no_cases(self) -> Problem:
        key = list_key(self.file.source.document, self.file.format.items_keys)
        return Problem(where=f"$.{key}" if key else "$", message="no cases", severity="warning")

    def result(self) -> Validation:
        """The problems in the order of the file."""
        problems = self._sort_by_line()
        if self.count > len(problems):
            message = f"{self.count - len(problems)} more problems not listed"
            if self.errors >= MAX_ERRORS:
                message = f"{message}, stopped after {self.cases} cases"
            problems.append(Problem(where="", message=message, severity="note"))
        return Validation(
            path=str(self.file.source.path),
            format=self.file.format.name,
            valid=not self.errors,
            cases=self.cases,
            problems=tuple(problems),
        )

    def _sort_by_line(self) -> list[Problem]:
        """The problems by line; in a document, all lines are found in one pass."""
        paths = {problem.where for problem in self.problems if problem.where}
        lines = self.file.source.find_lines(paths) if self.file.has_paths else {}
        with_lines = [
            msgspec.structs.replace(problem, where=f"line {lines[problem.where]} {problem.where}")
            if problem.where in lines
            else problem
            for problem in self.problems
        ]
        return sorted(with_lines, key=_line)

    def _report(self, problem: Problem) -> None:
        self.count += 1
        self.errors += problem.severity == "error"
        if len(self.problems) < LISTED_PROBLEMS:
            self.problems.append(problem)

    def _report_all(self, problems: Iterable[Problem], base: str = "$") -> None:
        """Report problems whose paths are relative to `base`."""
        for problem in problems:
            where = problem.where and base + problem.where.removeprefix("$")
            self._report(msgspec.structs.replace(problem, where=where))

    def _is_reported(self, where: str | None) -> bool:
        return any(problem.where == where for problem in self.problems)

    def _check_frame(self) -> None:
        source, form, frame = self.file.source, self.file.format, self.file.frame
        if self.file.container != "document":
            read_sidecar(source.path)
        else:
            whole = frame if isinstance(source.document, dict) else source.document
            self._report_all(find_shape_errors(whole, form.shape))
        self._report_all(find_duplicate_keys(source.data))
        self._report_all(source.notes(), "line 1 $")
        if self.file.container == "table":
            # Once per file: every row has the same columns.
            self._report_all(find_unknown_columns(source.columns, form.shape), "line 1 $")
        if isinstance(form, FrameChecker):
            base = "line 1 $" if self.file.container == "table" else "$"
            self._report_all(form.check_frame(frame, source.path), base)
        if not self.errors:
            form.header(self.file.container, source.stem).get(frame)

    def _check_cases(self) -> None:
        ids = RepeatedIds()
        for base, row in self._rows():
            if self.errors >= MAX_ERRORS:
                return
            self.cases += 1
            if row.error:
                self._report(_problem(row.error, self.file.source.path))
                continue
            self._report_all(find_duplicate_keys(row.data), base)
            if row.note:
                self._report_all([Problem(where="$", message=row.note, severity="note")], base)
            case = self._check_case(base, row.value)
            if identity := self._stated_identity(case, row.value):
                ids.add(identity.unique)
        repeated = ids.digests()
        if repeated:
            self._check_repeated(repeated)

    def _rows(self) -> Iterator[tuple[str, Row]]:
        """The rows, each with the location that replaces the `$` of its problems."""
        document = self.file.source.document
        key = list_key(document, self.file.format.items_keys)
        for index, row in enumerate(self.file.items()):
            path = f"$.{key}[{index}]" if key else f"$[{index}]"
            base = "$" if row.value is document else path
            yield base if self.file.has_paths else f"line {row.line} $", row

    def _check_case(self, base: str, item: Json) -> Case | None:
        errors_before = self.errors
        form, container = self.file.format, self.file.container
        self._report_all(find_case_problems(form, container, self._case_type, item), base)
        try:
            case = self._lens.get(item)
        except FormatError as error:
            if self.errors == errors_before:  # else the same error is already reported
                problem = Problem(where=error.where or "$", message=error.message, hint=error.hint)
                self._report_all([problem], base)
            return None
        self._report_all(self._check_references(case, item), base)
        return case

    @cached_property
    def _lens(self) -> Lens[Case]:
        return self.file.format.cases(self.file.container)

    @cached_property
    def _case_type(self) -> type | None:
        form = self.file.format
        key = list_key(self.file.source.document, form.items_keys)
        return case_type(form, self.file.container, key)

    def _check_references(self, case: Case, item: Json) -> Iterator[Problem]:
        """The agents, the profile and the scenario that a case refers to must exist."""
        for agent in case.agents or ():
            if self.agents is not None and agent not in self.agents:
                hint = did_you_mean(agent, self.agents)
                yield Problem(
                    where=_path_of(item, agent),
                    message=f"unknown agent {agent!r}",
                    hint=hint or f"expected one of: {_listing(self.agents)}",
                )
        if case.profile is not None and self.profiles and case.profile not in self.profiles:
            # A near miss is a typo. Any other name may be a profile that is configured elsewhere.
            suggestion = did_you_mean(case.profile, self.profiles)
            yield Problem(
                where=_path_of(item, case.profile),
                message=f"unknown profile {case.profile!r}",
                hint=suggestion or "add its file to `profiles` under [policy] in carob.toml",
                severity="error" if suggestion else "warning",
            )
        scenario = case.metadata.get("scenario_id")
        if self.catalog and isinstance(scenario, str) and scenario not in self.catalog.ids:
            yield Problem(
                where=_path_of(item, scenario),
                message=f"scenario {scenario!r} not found in {self.catalog.path.name}",
                hint=did_you_mean(scenario, self.catalog.ids),
            )

    def _check_repeated(self, digests: frozenset[int]) -> None:
        """Read the file again to find the first case with each repeated id.

        The first pass keeps only digests, so it cannot say where an id was used first.
        """
        repeated = self._find_repeated(digests)
        shown = list(islice(repeated, LISTED_PROBLEMS))
        lines = self.file.source.find_lines({first for _, first, _ in shown})
        for base, first, problem in shown:
            line = f"line {lines[first]}" if first in lines else first.removesuffix(" $")
            message = f"{problem.message}, first used on {line}"
            self._report_all([msgspec.structs.replace(problem, message=message)], base)
        self.count += sum(1 for _ in repeated)

    def _find_repeated(self, digests: frozenset[int]) -> Iterator[tuple[str, str, Problem]]:
        """The location of each case with a repeated id, and of the first case with that id."""
        first_use: dict[str, str] = {}
        for base, row in self._rows():
            try:
                case = None if row.error else self._lens.get(row.value)
            except FormatError:
                case = None
            identity = self._stated_identity(case, row.value)
            if identity is None or text_digest(identity.unique) not in digests:
                continue
            first = first_use.setdefault(identity.unique, base)
            if first != base:
                yield base, first, self._duplicate_id(identity.id, row.value)

    def _stated_identity(self, case: Case | None, item: Json) -> _Identity | None:
        """The identity of a case that states its id; derived ones are numbered if they repeat."""
        identity = _identity(case, item)
        if identity and self.file.format.derives_ids and _path_of(item, identity.id) == "$":
            return None
        return identity

    def _duplicate_id(self, name: str, item: Json) -> Problem:
        where, message = _path_of(item, name), f"duplicate id {name!r}"
        if self.file.format.derives_ids:
            hint = f"ids must be unique; repeated ones are numbered, as in '{name}-2'"
            return Problem(where=where, message=message, hint=hint, severity="warning")
        return Problem(where=where, message=message, hint="ids must be unique")


class _Identity(NamedTuple):
    """The id of a case, and the text that must be unique: a case may have several traces."""

    id: str
    unique: str


def _identity(case: Case | None, item: Json) -> _Identity | None:
    """The identity of a case; one that cannot be read may still state its id."""
    if case:
        trace_id = case.recorded.id if case.recorded else ""
        return _Identity(case.id, f"{case.id}\0{trace_id}")
    values = [find_member(item, name)[1] for name in ("id", "eval_id", "case_id")]
    stated = next((value for value in values if isinstance(value, str)), None)
    return _Identity(stated, f"{stated}\0") if stated is not None else None


def _path_of(item: Json, text: str) -> str:
    """The path of a text in a case, up to two levels deep; else that of the case."""
    for key, value in item.items() if isinstance(item, dict) else ():
        if value == text:
            return f"$.{key}"
        if isinstance(value, list) and text in value:
            return f"$.{key}[{value.index(text)}]"
        if isinstance(value, dict):
            inner = next((name for name, member in value.items() if member == text), None)
            if inner is not None:
                return f"$.{key}.{inner}"
    return "$"


def _listing(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:20])


def _problem(error: CarobError, path: Path) -> Problem:
    where = (error.where or "").removeprefix(str(path)).strip()
    return Problem(where=where, message=error.message, hint=error.hint)


def _line(problem: Problem) -> int:
    line = re.match(r"line (\d+)", problem.where)
    return int(line[1]) if line else 0
