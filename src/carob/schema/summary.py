from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from carob.schema.case import Case
from carob.schema.noun import Noun


class Summary(Noun, frozen=True, omit_defaults=False):
    """What a dataset is made of."""

    name: str
    version: str | None
    format: str | None
    cases: int
    with_context: int
    with_recording: int
    turns: int
    multi_turn: int
    tags: dict[str, int]
    """How many cases carry each tag; likewise below."""
    tools: dict[str, int]
    agents: dict[str, int]
    metadata: dict[str, int]

    @classmethod
    def of(cls, name: str, cases: Iterable[Case], *, version: str | None = None) -> Summary:
        """Counts in one pass, so that the cases may be a stream."""
        numbers: Counter[str] = Counter()
        tags: Counter[str] = Counter()
        tools: Counter[str] = Counter()
        agents: Counter[str] = Counter()
        metadata: Counter[str] = Counter()
        origin = None
        for case in cases:
            origin = origin or case.origin
            numbers["cases"] += 1
            numbers["with_context"] += bool(case.context)
            numbers["with_recording"] += case.recording is not None
            numbers["turns"] += len(case.turns)
            numbers["multi_turn"] += len(case.turns) > 1
            tags.update(set(case.tags))
            tools.update(expected_tools(case))
            agents.update(set(case.agents or ()))
            metadata.update(case.metadata.keys())
        return cls(
            name=name,
            version=version,
            format=origin.format if origin else None,
            cases=numbers["cases"],
            with_context=numbers["with_context"],
            with_recording=numbers["with_recording"],
            turns=numbers["turns"],
            multi_turn=numbers["multi_turn"],
            tags=_ranked(tags),
            tools=_ranked(tools),
            agents=_ranked(agents),
            metadata=_ranked(metadata),
        )


def expected_tools(case: Case) -> set[str]:
    """The names of all tools that the case expects to be called."""
    calls = [call for turn in case.turns for call in turn.tool_calls or ()]
    return {call.name for call in (*calls, *(case.tool_calls or ()))}


def _ranked(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
