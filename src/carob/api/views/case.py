"""One case of a stored run beside its golden expectation, turn by turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from carob.analysis.edit_script import edit_script
from carob.api.load import REGISTRY
from carob.api.run_cases import find_datasets, tagged_cases
from carob.api.store import store_url
from carob.api.views.run import CaseLine, read_lines
from carob.api.views.run_index import (
    CaseFilter,
    Neighbours,
    decode_result,
    find_neighbours,
    not_passed,
    run_indexes,
    select_rows,
)
from carob.errors import NotFoundError
from carob.schema import Case, CaseResult, Run, Trace, Turn
from carob.schema.digest import expectation_digest
from carob.schema.edit_script import EditStep
from carob.store import open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_places, read_trace

_GOOD = ("passed", "info")


class TurnView(NamedTuple):
    """What a turn should be and what it was. `None`: the side has no such turn, or no record."""

    expected: Turn | None
    actual: Turn | None
    script: tuple[EditStep, ...] | None
    """The steps between the tool calls; `None` if one side does not state any."""


class CaseView(NamedTuple):
    """One case of a run beside its golden expectation."""

    run: Run
    attempts: tuple[CaseLine, ...]
    attempt: int
    golden: Case | None
    """`None` if the dataset is not in this workspace, or the case has changed since."""
    trace: Trace | None
    """`None` if the run was made without `--keep-traces`."""
    turns: tuple[TurnView, ...]
    script: tuple[EditStep, ...] | None
    """The steps between the calls of the whole conversation, if the golden case does not assign
    them to turns."""
    neighbours: Neighbours
    """Among the cases that the filter selects."""


class ItemView(NamedTuple):
    """One result of a run beside its golden expectation."""

    result: CaseResult
    turns: tuple[TurnView, ...]
    has_golden: bool
    """Whether its golden case was found."""


def view_case(
    name: str,
    case: str,
    *,
    attempt: int = 1,
    wanted: CaseFilter | None = None,
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> CaseView:
    """Return one case of a stored run beside its golden expectation, turn by turn. The neighbours
    are those of a filter; without one, the cases that did not pass, or all if this one did."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        index = run_indexes.get(database, number, run)
        places = index.places.get(case, ())
        if not places:
            raise NotFoundError(f"{run.id} has no case {case!r}", hint=f"see /runs/{run.id}")
        lines = read_lines(database, number, run, dict.fromkeys(places, case))
        attempt = min(max(attempt, 1), len(lines))
        line = lines[attempt - 1]
        trace = read_trace(database, number, line.place)
        if wanted is not None:
            tagged = tagged_cases(run, wanted.tag, golden, registry)
            rows = select_rows(database, number, index, wanted, tagged)
        else:
            good = line.result.status in _GOOD
            rows = index.worst_first if good else not_passed(index)
    neighbours = find_neighbours(index, rows, case, order=wanted.order if wanted else "worst")
    expected = find_golden(run, case, line.result.digest, golden=golden, registry=registry)
    return CaseView(
        run,
        lines,
        attempt,
        expected,
        trace,
        tuple(align_turns(expected, trace, line.result)),
        _whole_script(expected, trace),
        neighbours,
    )


def view_item(
    name: str, place: int, *, golden: Path, registry: Path, store: str | None = None
) -> ItemView:
    """Return the result at a position of a stored run beside its golden expectation."""
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        body = read_places(database, number, [place]).get(place)
        trace = read_trace(database, number, place)
    if body is None:
        raise NotFoundError(f"{run.id} has no case at position {place}")
    result = decode_result(body)
    expected = find_golden(run, result.case or "", result.digest, golden=golden, registry=registry)
    turns = tuple(align_turns(expected, trace, result))
    return ItemView(result, turns, has_golden=expected is not None)


def find_golden(
    run: Run, case: str, digest: str | None, *, golden: Path, registry: Path
) -> Case | None:
    """Find the golden case that a result was scored against: in the release that the run names, or
    in a file of the folder. A case that asks for something else than the run saw does not match."""
    if run.dataset is None:
        return None
    for dataset in find_datasets(run.dataset.name, run.dataset.version, golden, registry):
        for candidate in dataset:
            if candidate.id == case and digest in (None, expectation_digest(candidate)):
                return candidate
    return None


def align_turns(
    golden: Case | None, trace: Trace | None, result: CaseResult | None = None
) -> Iterator[TurnView]:
    """Pair the turns of case and trace by position. What is not at hand comes from the answers
    that the run keeps of pairs that did not pass."""
    exchanges = result.exchanges if result else ()
    expected = (
        golden.turns
        if golden
        else tuple(Turn(user=turn.user, response=turn.expected) for turn in exchanges)
    )
    actual = (
        trace.turns
        if trace
        else tuple(Turn(user=turn.user, response=turn.actual) for turn in exchanges)
    )
    by_turn = any(turn.tool_calls is not None for turn in expected)
    for index in range(max(len(expected), len(actual))):
        wanted = expected[index] if index < len(expected) else None
        turn = actual[index] if index < len(actual) else None
        yield TurnView(wanted, turn, _script(wanted, turn, by_turn))


def _script(
    expected: Turn | None, actual: Turn | None, by_turn: bool
) -> tuple[EditStep, ...] | None:
    if not by_turn or actual is None or actual.tool_calls is None:
        return None
    calls = (expected.tool_calls if expected else None) or ()
    return tuple(edit_script(calls, actual.tool_calls))


def _whole_script(golden: Case | None, trace: Trace | None) -> tuple[EditStep, ...] | None:
    if golden is None or golden.tool_calls is None or trace is None:
        return None
    if any(turn.tool_calls is None for turn in trace.turns):
        return None  # not recorded, which is not the same as none
    calls = [call for turn in trace.turns for call in turn.tool_calls or ()]
    return tuple(edit_script(golden.tool_calls, calls))
