"""Coverage: how many cases have each relation, tool, argument, tag and number of turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from carob.schema import Case
from carob.schema.synth import HOLDS, RELATION, CoverageRow
from carob.synth.world import call_arguments, expected_calls

AXES = ("relation", "holds", "tool", "argument", "tag", "turns")


def properties(case: Case) -> set[str]:
    """What a case covers, such as `tool:find_order` and `turns:2`."""
    calls = list(expected_calls(case))
    keys = {f"tool:{call.name}" for call in calls}
    keys |= {f"argument:{call.name}.{name}" for call in calls for name in call_arguments(call)}
    keys |= {f"tag:{tag}" for tag in case.tags}
    keys |= {f"{key}:{case.metadata[key]}" for key in (RELATION, HOLDS) if key in case.metadata}
    return keys | {f"turns:{len(case.turns)}"}


def count_coverage(
    source: Iterable[Case], synthetic: Iterable[Case], quotas: Mapping[str, int]
) -> tuple[CoverageRow, ...]:
    """Count the cases with each property, by axis. A property with a quota is listed even if no
    case has it."""
    before = Counter(key for case in source for key in properties(case))
    after = Counter(key for case in synthetic for key in properties(case))
    rows: list[CoverageRow] = []
    for key in sorted({*before, *after, *quotas}, key=_order):
        axis, _, value = key.partition(":")
        rows.append(CoverageRow(axis, value, before[key], after[key], quotas.get(key)))
    return tuple(rows)


def _order(key: str) -> tuple[int, int, str]:
    axis, _, value = key.partition(":")
    return AXES.index(axis), int(value) if value.isdecimal() else 0, value
