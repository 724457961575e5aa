"""Generate synthetic cases: apply relations, keep what is new and valid, record the lineage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from carob.datasets.ids import make_unique
from carob.datasets.lint.run import IGNORE_KEY
from carob.schema import Case, Json
from carob.schema.synth import (
    HOLDS,
    PARENT,
    RELATION,
    SLOT,
    SOURCE,
    SYNTHETIC,
    CoverageRow,
)
from carob.synth import context, conversations, slots, tool_calls, wording
from carob.synth.coverage import count_coverage, properties
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.world import World, call_arguments, expected_calls
from carob.text.sensitive import find_sensitive

RELATIONS: Mapping[str, Relation] = {
    relation.name: relation
    for family in (wording, context, conversations, slots, tool_calls)
    for relation in family.RELATIONS
}
_ATTEMPTS = 4
"""Draws for each variant that is asked for: some repeat an earlier one."""
_OF_PARENT_ALONE = {
    "review_status", "reviewed_by", "reviewed_at", "review_history",
    "ticket_id", "trace_id", "session_id", "file", "date_added",
}  # fmt: skip
"""The metadata about how the parent came to be, and who has reviewed it."""


class Synthesis(NamedTuple):
    """The synthetic cases, and what became of the others."""

    cases: tuple[Case, ...]
    skipped: dict[str, int]
    coverage: tuple[CoverageRow, ...]


@dataclass(kw_only=True)
class Generator:
    """Makes variants of the cases of a world, at most `per_case` of each case by each relation."""

    world: World
    relations: Sequence[Relation]
    per_case: int = 1
    seed: int = 0
    quotas: Mapping[str, int] = field(default_factory=dict[str, int])
    """The highest number of synthetic cases with a property, such as `tool:find_order`."""

    def __post_init__(self) -> None:
        self._ids = {case.id: 1 for case in self.world.cases}
        self._inputs = {_input_digest(case) for case in self.world.cases}
        self._counts: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()

    def run(self) -> Synthesis:
        """Generate the cases. The same world, relations and seed give the same cases."""
        cases = tuple(
            case
            for parent in self.world.cases
            if parent.turns and not is_synthetic(parent)
            for relation in self.relations
            for case in self._vary(parent, relation)
        )
        coverage = count_coverage(self.world.cases, cases, self.quotas)
        return Synthesis(cases, dict(sorted(self._skipped.items())), coverage)

    def _vary(self, parent: Case, relation: Relation) -> Iterator[Case]:
        bare = msgspec.structs.replace(
            parent, origin=None, recorded=None, created_at=None, updated_at=None
        )
        number = 0
        for attempt in range(self.per_case * _ATTEMPTS):
            draw = Draw(str(self.seed), relation.name, parent.id, str(attempt))
            variant = relation.vary(bare, draw, self.world)
            if variant is None:  # it does not apply
                return
            case = self._with_lineage(variant, parent, relation)
            reason = self._find_fault(case, parent)
            if reason:
                self._skipped[reason] += 1
                continue
            self._inputs.add(_input_digest(case))
            self._counts.update(properties(case))
            yield msgspec.structs.replace(case, id=make_unique(case.id, self._ids))
            number += 1
            if number == self.per_case:
                return

    def _with_lineage(self, variant: Variant, parent: Case, relation: Relation) -> Case:
        own = {key: value for key, value in parent.metadata.items() if key not in _OF_PARENT_ALONE}
        lineage: dict[str, Json] = {
            SOURCE: SYNTHETIC,
            "generator": f"carob.synth.{relation.name}@{relation.version}",
            "seed": str(self.seed),
            PARENT: parent.id,
            RELATION: relation.name,
            HOLDS: relation.holds,
            "review_status": "draft",
        }
        if variant.slot:
            lineage[SLOT] = variant.slot
        if variant.partner:
            lineage["partner"] = variant.partner
        # Nearly the same input is the point of these. One whose tools fail has the very same.
        users = [turn.user for turn in variant.case.turns]
        same = users == [turn.user for turn in parent.turns][: len(users)]
        contradiction: list[Json] = ["contradiction"] if same and relation.holds != "same" else []
        lineage[IGNORE_KEY] = ["duplicate", "near-duplicate", *contradiction]
        digest = _input_digest(variant.case).hex()[:6]
        return msgspec.structs.replace(
            variant.case,
            id=f"{parent.id}-{relation.name}-{digest}",
            metadata={**own, **lineage},
        )

    def _find_fault(self, case: Case, parent: Case) -> str | None:
        """Why a case is not kept."""
        # An error of a tool changes the outcome, not the input.
        if _input_digest(case) in self._inputs:
            return "duplicate"
        for call in expected_calls(case):
            tool = self.world.tools.get(call.name)
            if tool and call.args is not None and tool.find_invalid(call_arguments(call)):
                return "invalid arguments"
        if _sensitive_texts(case) - _sensitive_texts(parent):
            return "personal data"
        full = [key for key in properties(case) if self._counts[key] >= self.quotas.get(key, 10**9)]
        return "quota" if full else None


def is_synthetic(case: Case) -> bool:
    """Whether a case was generated."""
    return case.metadata.get(SOURCE) == SYNTHETIC


def _input_digest(case: Case) -> bytes:
    """Identifies what the agent gets: messages, context, session, and the results of its tools."""
    content = [
        [turn.user for turn in case.turns],
        case.context,
        case.session,
        case.scenario,
        [turn.tool_results for turn in case.turns],
    ]
    return blake2b(msgspec.json.encode(content), digest_size=16).digest()


def _sensitive_texts(case: Case) -> set[str]:
    texts = [turn.user or "" for turn in case.turns]
    return {match.normalized for text in texts for match in find_sensitive(text)}
