"""Which synthetic cases are kept: those that are new, valid, without personal data of their own,
and within the quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

import msgspec

from carob.files.ids import make_unique
from carob.schema import Case
from carob.synth.coverage import properties
from carob.synth.world import World, call_arguments, expected_calls
from carob.text.sensitive import find_sensitive


@dataclass(kw_only=True)
class CaseFilter:
    """Keeps cases in the order in which they come, and counts the others by reason."""

    world: World
    quotas: Mapping[str, int] = field(default_factory=dict[str, int])
    """The highest number of synthetic cases with a property, such as `tool:find_order`."""

    def __post_init__(self) -> None:
        self._ids = {case.id: 1 for case in self.world.cases}
        self._inputs = {input_digest(case) for case in self.world.cases}
        self._counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()

    def keep(self, case: Case, known: Case | None, text: str = "") -> Case | None:
        """Return the case with an id of its own, or `None` if it is not kept. Personal data may
        occur that `known`, its parent, or the source `text` has as well."""
        reason = self._find_fault(case, known, text)
        if reason:
            self.skipped[reason] += 1
            return None
        self._inputs.add(input_digest(case))
        self._counts.update(properties(case))
        return msgspec.structs.replace(case, id=make_unique(case.id, self._ids))

    def skip(self, reason: str) -> None:
        """Count a case that was not kept for another reason."""
        self.skipped[reason] += 1

    def _find_fault(self, case: Case, known: Case | None, text: str) -> str | None:
        # An error of a tool changes the outcome, not the input.
        if input_digest(case) in self._inputs:
            return "duplicate"
        for call in expected_calls(case):
            tool = self.world.tools.get(call.name)
            if tool and call.args is not None and tool.find_invalid(call_arguments(call)):
                return "invalid arguments"
        allowed = _sensitive_texts(known) | {match.normalized for match in find_sensitive(text)}
        if _sensitive_texts(case) - allowed:
            return "personal data"
        full = [key for key in properties(case) if self._counts[key] >= self.quotas.get(key, 10**9)]
        return "quota" if full else None


def input_digest(case: Case) -> bytes:
    """Identifies what the agent gets: messages, context, session, and the results of its tools."""
    content = [
        [turn.user for turn in case.turns],
        case.context,
        case.session,
        case.scenario,
        [turn.tool_results for turn in case.turns],
    ]
    return blake2b(msgspec.json.encode(content), digest_size=16).digest()


def _sensitive_texts(case: Case | None) -> set[str]:
    texts = [turn.user or "" for turn in case.turns] if case else []
    return {match.normalized for text in texts for match in find_sensitive(text)}
