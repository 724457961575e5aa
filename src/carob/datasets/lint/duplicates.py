"""C201 and C203: the same input twice, with the same expectation or with a different one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple, cast

import msgspec

from carob.datasets.lint.rules import (
    CaseLocation,
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
    plain_text,
)
from carob.files.digest_table import text_digest
from carob.files.ids import RepeatedIds
from carob.files.spool import PickleCodec, Spool
from carob.schema import Case, Dataset, Json, LintRule, ToolCall

DUPLICATE = LintRule(
    id="C201",
    name="duplicate",
    level="warning",
    summary="A case has the same input and expectation as an earlier one.",
)
CONTRADICTION = LintRule(
    id="C203",
    name="contradiction",
    level="error",
    summary="A case has the same input as an earlier one but a different expectation.",
)

_encode = msgspec.json.Encoder(order="deterministic").encode
_EXPECTATIONS = {
    "response": "a different answer",
    "tool_calls": "different tool calls",
    "trajectory": "a different trajectory",
    "state": "a different state",
    "contains": "different required texts",
    "contract": "a different contract",
}


class _CaseDigests(NamedTuple):
    """The compared parts of a case: digests, so that the length of its texts plays no part."""

    input: bytes
    expectations: dict[str, bytes]
    location: CaseLocation


class Duplicates(RuleFamily):
    """Two cases contradict each other if both state the same expectation with different values.

    An expectation that only one of them states is not a contradiction. Digests of all cases are in
    a file; once it is known which inputs occur twice, only their cases are compared.
    """

    rules = (DUPLICATE, CONTRADICTION)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._cases = Spool(PickleCodec[_CaseDigests]())
        self._inputs = RepeatedIds()
        self._expectations: dict[bytes, dict[str, tuple[bytes, CaseLocation]]] = {}
        self._first: dict[bytes, CaseLocation] = {}
        self._traced: set[str] = set()

    def visit(self, item: LintItem) -> Iterable[Violation]:
        case = item.case
        if not self._is_another_trace(case) and _has_input(case):
            digest = _digest(_input(case))
            expectations = {name: _digest(value) for name, value in _expectations(case).items()}
            self._cases.append(_CaseDigests(digest, expectations, item.location))
            self._inputs.add(digest.hex())
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        repeated = self._inputs.digests()
        for case in self._cases.finish():
            if repeated and text_digest(case.input.hex()) in repeated:
                yield from self._compare(case)

    def _compare(self, case: _CaseDigests) -> Iterator[Violation]:
        location = case.location
        whole = _digest([case.input.hex(), [value.hex() for value in case.expectations.values()]])
        first = self._first.setdefault(whole, location)
        if first is not location:
            message = f"duplicate of {first.with_line()}"
            yield Violation(DUPLICATE, location, message, "remove one of them")
            return
        earlier_expectations = self._expectations.setdefault(case.input, {})
        for name, digest in case.expectations.items():
            earlier_digest, earlier = earlier_expectations.setdefault(name, (digest, location))
            if earlier_digest != digest:
                message = f"same input as {earlier.with_line()}, but expects {_EXPECTATIONS[name]}"
                hint = "correct one of them, or add the difference to the context"
                yield Violation(CONTRADICTION, location, message, hint)
                return

    def _is_another_trace(self, case: Case) -> bool:
        """A file may hold several traces of one case, which are not duplicates of it."""
        if case.recorded is None:
            return False
        is_known = case.id in self._traced
        self._traced.add(case.id)
        return is_known


def _has_input(case: Case) -> bool:
    return bool(case.scenario or any(turn.user for turn in case.turns))


def input_text(case: Case) -> str:
    """All user messages of a case, or its scenario."""
    if case.scenario:
        return f"{case.scenario.prompt}\n{case.scenario.plan}"
    return "\n".join(turn.user or "" for turn in case.turns)


def _input(case: Case) -> Json:
    """Everything that determines the right answer."""
    session = case.session
    return cast(
        "Json",
        msgspec.to_builtins(
            [
                [_comparable(turn.user or "") for turn in case.turns],
                case.context,
                case.relevant_context,
                case.scenario,
                session and [session.app, session.user, session.state],
                case.agents,
                case.tools,
                case.goal,
                case.metadata.get("phase"),  # in `explain`, the same question in another phase
            ]
        ),
    )


def _expectations(case: Case) -> dict[str, Json]:
    """The expectations that a case states, by the names of `_EXPECTATIONS`."""
    answers: Json = [_comparable(turn.response or "") for turn in case.turns]
    calls = [turn.tool_calls for turn in case.turns if turn.tool_calls is not None]
    if case.tool_calls is not None:
        calls.append(case.tool_calls)
    expectations: dict[str, object] = {
        "response": answers if any(answers) else None,
        "tool_calls": [_name_and_args(call) for turn in calls for call in turn] if calls else None,
        "trajectory": case.trajectory,
        "state": case.state,
        "contains": case.contains,
        "contract": case.contract,
    }
    values = cast("dict[str, Json]", msgspec.to_builtins(expectations))
    return {name: value for name, value in values.items() if value is not None}


def _name_and_args(call: ToolCall) -> list[object]:
    return [call.name, call.args]


def _comparable(text: str) -> str:
    # "?" and "!" are all punctuation, and yet different inputs.
    return plain_text(text) or text


def _digest(value: Json) -> bytes:
    return blake2b(_encode(value), digest_size=16).digest()
