"""What is not the same in two runs, besides what the agent did: a comparison names all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from carob.analysis.pair import Attempted, Pair
from carob.schema import Json, JudgeUse, MetricUse, Moved, Run

_LEFT_OUT = "not compared"
_SCORES_ONLY = "scores are compared, passing is not"
_ONE_BY_ONE = "only cases that stayed the same are compared"
_READ = "compared, although the recordings were read by different rules"
_NO_RATE = "passing is not compared"


class Metrics(NamedTuple):
    """The metrics that two runs share."""

    uses: Mapping[str, MetricUse]
    firm: frozenset[str]
    moved: tuple[Moved, ...]


def shared_metrics(before: Run, after: Run) -> Metrics:
    """The metrics with the same name, version, parameters, scale and judge."""
    old, new = _by_name(before), _by_name(after)
    names = [*new, *sorted(old.keys() - new.keys())]
    moved = [one for name in names for one in _metric(name, old, new)]
    out = {one.name for one in moved if one.effect == _LEFT_OUT}
    loose = {one.name for one in moved}
    uses = {name: new[name][0] for name in new if name not in out}
    return Metrics(uses, frozenset(uses) - loose, tuple(moved))


def what_moved(before: Run, after: Run, pairs: Sequence[Pair]) -> Iterator[Moved]:
    """Golden data, profiles and trace mappers that are not the same."""
    yield from _dataset(before, after)
    profiles = Counter((_profile(one.before), _profile(one.after)) for one in pairs)
    yield from _counted("profile", profiles, _NO_RATE)
    mappers = Counter((_mapper(one.before), _mapper(one.after)) for one in pairs)
    known = Counter({both: number for both, number in mappers.items() if None not in both})
    yield from _counted("mapper", known, _READ)


def _by_name(run: Run) -> dict[str, list[MetricUse]]:
    made: dict[str, list[MetricUse]] = {}
    for use in run.metrics:
        made.setdefault(use.name, []).append(use)
    return made


def _metric(
    name: str, old: Mapping[str, list[MetricUse]], new: Mapping[str, list[MetricUse]]
) -> Iterator[Moved]:
    uses = old.get(name, []), new.get(name, [])
    if len(uses[0]) != 1 or len(uses[1]) != 1:  # scores tell metrics apart only by their names
        yield Moved("metric", name, "uses", len(uses[0]), len(uses[1]), _LEFT_OUT)
        return
    one, other = uses[0][0], uses[1][0]
    for field, left, right in _fields(one, other):
        if left != right:
            effect = _SCORES_ONLY if field == "threshold" else _LEFT_OUT
            yield Moved("metric", name, field, left, right, effect)


def _fields(one: MetricUse, other: MetricUse) -> Iterator[tuple[str, Json, Json]]:
    yield "version", one.version, other.version
    yield "scale", list(one.scale), list(other.scale)
    yield "better", one.better, other.better
    for name in sorted(one.params.keys() | other.params.keys()):
        yield f"params.{name}", one.params.get(name), other.params.get(name)
    yield from _judge_fields(one.judge or None, other.judge or None)
    yield "threshold", one.threshold, other.threshold


def _judge_fields(one: JudgeUse | None, other: JudgeUse | None) -> Iterator[tuple[str, Json, Json]]:
    for name in ("model", "prompt", "rubric"):
        yield f"judge.{name}", getattr(one, name, None), getattr(other, name, None)
    old, new = one.params if one else {}, other.params if other else {}
    for name in sorted(old.keys() | new.keys()):
        yield f"judge.params.{name}", old.get(name), new.get(name)


def _dataset(before: Run, after: Run) -> Iterator[Moved]:
    old, new = before.dataset, after.dataset
    name = (new or old).name if new or old else ""  # pyright: ignore[reportOptionalMemberAccess] - one of them is there
    for field in ("name", "version", "digest"):
        left, right = getattr(old, field, None), getattr(new, field, None)
        if left != right:
            yield Moved("dataset", name, field, left, right, _ONE_BY_ONE)


def _counted(
    what: Literal["profile", "mapper"],
    found: Counter[tuple[str | None, str | None]],
    effect: str,
) -> Iterator[Moved]:
    for (left, right), number in sorted(found.items(), key=str):
        if left != right:
            name = f"{number:,} case{'' if number == 1 else 's'}"
            yield Moved(what, name, what, left, right, effect)


def _profile(results: Attempted) -> str | None:
    for one in results:
        if one.judgement:
            return one.judgement.profile
    return None


def _mapper(results: Attempted) -> str | None:
    for one in results:
        if one.mapper:
            return one.mapper
    return None
