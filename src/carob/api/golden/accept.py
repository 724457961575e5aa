"""Accept what an agent did as the new expectation, line by line of the edit script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from carob.analysis.edit_script import accept_lines
from carob.api.golden.drafts import get_case, put_case
from carob.api.golden.folder import GoldenFolder
from carob.api.views.case import CaseView, TurnView, view_case
from carob.errors import RefusedError, StaleError, UsageError
from carob.schema import Case, ToolCall, Turn
from carob.schema.digest import expectation_digest
from carob.schema.draft import DraftCase
from carob.schema.edit_script import EditStep, ScriptLine
from carob.versions.review import STATUS

_NUMBER = "[0-9]{1,6}"
_LINE = re.compile(
    rf"(?!case\.response)(?P<turn>case|{_NUMBER})\."
    rf"(?:response|(?P<step>{_NUMBER})(?:\.(?P<argument>{_NUMBER}))?)"
)


class AcceptedLine(NamedTuple):
    """A line of a case page: of a turn (from 0), or of the whole conversation if that is `None`.
    Without a script line it is the response of the turn."""

    turn: int | None
    line: ScriptLine | None

    @classmethod
    def parse(cls, text: str) -> AcceptedLine:
        """Read a line as forms and requests write it: `2.response`, `2.0`, `2.0.1` for an argument,
        `case.0` for the whole conversation."""
        match = _LINE.fullmatch(text)
        if match is None:
            hint = "as in `2.response`, `2.0` or `2.0.1`"
            raise UsageError(f"invalid line of an edit script {text!r}", hint=hint)
        turn = None if match["turn"] == "case" else int(match["turn"])
        if match["step"] is None:
            return cls(turn, None)
        argument = None if match["argument"] is None else int(match["argument"])
        return cls(turn, ScriptLine(int(match["step"]), argument))


def accept_changes(
    run: str,
    case: str,
    lines: Sequence[AcceptedLine],
    *,
    attempt: int = 1,
    folder: GoldenFolder,
    store: str | None = None,
) -> DraftCase:
    """Expect what the agent did in a case of a run, in the lines that are accepted. The change goes
    into the draft of the dataset, where the case waits for review again."""
    if not lines:
        raise UsageError("nothing is accepted", hint="select lines of the edit script")
    view = view_case(
        run, case, attempt=attempt, golden=folder.path, registry=folder.registry, store=store
    )
    if view.golden is None or view.run.dataset is None:
        hint = "only cases of the golden folder that are still as the run saw them can be changed"
        raise RefusedError(f"there is no golden case {case!r} to change", hint=hint)
    name = view.run.dataset.name
    draft = get_case(folder, name, case)
    if expectation_digest(draft.case) != expectation_digest(view.golden):
        hint = "look at the draft, or evaluate it again"
        raise StaleError(f"case {case!r} has changed since the run", hint=hint)
    accepted = _accept(draft.case, view, lines)
    return put_case(folder, name, accepted, revision=draft.digest)


def _accept(case: Case, view: CaseView, lines: Sequence[AcceptedLine]) -> Case:
    turns = list(case.turns)
    for number in sorted({line.turn for line in lines if line.turn is not None}):
        if number >= len(turns):
            raise UsageError(f"case {case.id!r} has no turn {number + 1}")
        turns[number] = _accept_turn(
            turns[number], view.turns[number], [line for line in lines if line.turn == number]
        )
    whole = [line.line for line in lines if line.turn is None and line.line]
    calls = case.tool_calls
    if whole:
        calls = _calls(view.script, whole)
    metadata = {**case.metadata, STATUS: "draft"}
    return msgspec.structs.replace(case, turns=tuple(turns), tool_calls=calls, metadata=metadata)


def _accept_turn(turn: Turn, view: TurnView, lines: Sequence[AcceptedLine]) -> Turn:
    if view.actual is None:
        raise RefusedError("the agent did not take this turn", hint="edit the case instead")
    if any(line.line is None for line in lines):
        turn = msgspec.structs.replace(turn, response=view.actual.response)
    steps = [line.line for line in lines if line.line]
    if steps:
        turn = msgspec.structs.replace(turn, tool_calls=_calls(view.script, steps))
    return turn


def _calls(script: Sequence[EditStep] | None, lines: Sequence[ScriptLine]) -> tuple[ToolCall, ...]:
    if script is None or any(line.step >= len(script) for line in lines):
        raise UsageError("the edit script has no such line")
    return tuple(accept_lines(script, lines))
