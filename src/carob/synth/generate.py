"""Generate synthetic cases: apply relations, keep what is new and valid, record the lineage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from carob.datasets.lint.run import IGNORE_KEY
from carob.schema import Case, Json
from carob.schema.problem import ProgressListener, ignore, watch
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
from carob.synth.coverage import count_coverage
from carob.synth.keep import CaseFilter, input_digest
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.world import World

RELATIONS: Mapping[str, Relation] = {
    relation.name: relation
    for family in (wording, context, conversations, slots, tool_calls)
    for relation in family.RELATIONS
}
_ATTEMPTS = 4
"""Draws for each variant that is asked for: some repeat an earlier one."""
OF_PARENT_ALONE = {
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

    def run(self, progress: ProgressListener = ignore) -> Synthesis:
        """Generate the cases. The same world, relations and seed give the same cases. `progress`
        receives the number of cases that were varied."""
        kept = CaseFilter(world=self.world, quotas=self.quotas)
        cases = tuple(
            case
            for parent in watch(self.world.cases, progress)
            if parent.turns and not is_synthetic(parent)
            for relation in self.relations
            for case in self._vary(parent, relation, kept)
        )
        coverage = count_coverage(self.world.cases, cases, self.quotas)
        return Synthesis(cases, dict(sorted(kept.skipped.items())), coverage)

    def _vary(self, parent: Case, relation: Relation, kept: CaseFilter) -> Iterator[Case]:
        bare = msgspec.structs.replace(
            parent, origin=None, recorded=None, created_at=None, updated_at=None
        )
        number = 0
        for attempt in range(self.per_case * _ATTEMPTS):
            draw = Draw(str(self.seed), relation.name, parent.id, str(attempt))
            variant = relation.vary(bare, draw, self.world)
            if variant is None:  # it does not apply
                return
            case = kept.keep(self._with_lineage(variant, parent, relation), parent)
            if case is None:
                continue
            yield case
            number += 1
            if number == self.per_case:
                return

    def _with_lineage(self, variant: Variant, parent: Case, relation: Relation) -> Case:
        own = {key: value for key, value in parent.metadata.items() if key not in OF_PARENT_ALONE}
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
        digest = input_digest(variant.case).hex()[:6]
        return msgspec.structs.replace(
            variant.case,
            id=f"{parent.id}-{relation.name}-{digest}",
            metadata={**own, **lineage},
        )


def is_synthetic(case: Case) -> bool:
    """Whether a case was generated."""
    return case.metadata.get(SOURCE) == SYNTHETIC
