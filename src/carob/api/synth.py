"""Synthetic golden data: generate variants of cases, offline and repeatable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from carob.analysis.invariance import measure_invariance
from carob.api.datasets import save_with_losses
from carob.api.golden.append import join_cases
from carob.api.history import find_run
from carob.api.load import PathName, as_list, format_name, load
from carob.errors import FormatError, InputError, UsageError
from carob.schema import Case, Dataset, Json
from carob.schema.problem import ProgressListener, ignore
from carob.schema.synth import PARENT, Invariance, RelationInfo, SynthReport
from carob.synth.coverage import AXES
from carob.synth.generate import RELATIONS, Generator, Synthesis
from carob.synth.relation import Relation
from carob.synth.templates import (
    CaseTemplate,
    compose_datasets,
    fill_templates,
    merge_datasets,
)
from carob.synth.tool_schemas import ToolSchema, find_tools, tools_of_cases
from carob.synth.world import World
from carob.text.spelling import did_you_mean

__all__ = [
    "CaseTemplate",
    "compose_datasets",
    "fill_templates",
    "invariance",
    "list_relations",
    "merge_datasets",
    "synth",
]

_MAX_PER_CASE = 1000


def list_relations() -> tuple[RelationInfo, ...]:
    """List the relations that variants are made by."""
    return tuple(RelationInfo(item.name, item.holds, item.summary) for item in RELATIONS.values())


def synth(
    src: PathName,
    dst: PathName,
    *,
    relations: str | Iterable[str] = (),
    per_case: int = 1,
    seed: int = 0,
    quotas: Mapping[str, int] | None = None,
    tools: PathName | None = None,
    with_parents: bool = False,
    to: str | None = None,
    from_: str | None = None,
    progress: ProgressListener = ignore,
) -> SynthReport:
    """Write variants of the cases of a dataset, each a draft with its lineage in the metadata.

    Applies all relations by default, and makes at most `per_case` variants of a case by each.
    `quotas` limits the synthetic cases with a property, such as `{"tool:find_order": 10}`. `tools`
    is a JSON file with tool declarations; those in the cases are used as well. `with_parents`
    writes the source cases before their variants. The same arguments write the same bytes; an
    existing file that differs is never overwritten. `progress` receives the number of cases that
    were varied."""
    chosen = _choose_relations(as_list(relations))
    limits = check_quotas(quotas or {})
    if not 1 <= per_case <= _MAX_PER_CASE:
        raise UsageError(f"per_case: expected 1 to {_MAX_PER_CASE}, got {per_case}")
    dataset = load(src, from_=from_)
    cases = tuple(dataset.cases)
    generator = Generator(
        world=open_world(cases, tools),
        relations=chosen,
        per_case=per_case,
        seed=seed,
        quotas=limits,
    )
    hint = "`carob synth --list` says what each relation needs of a case"
    return save_synthesis(
        dataset, generator.run(progress), dst, with_parents=with_parents, to=to, none_hint=hint
    )


def open_world(cases: tuple[Case, ...], tools: PathName | None) -> World:
    """Return the cases with the tools that they and a file declare."""
    declared = tools_of_cases(cases) | (_read_tools(Path(tools)) if tools else {})
    return World(cases=cases, tools=declared)


def save_synthesis(
    source: Dataset,
    made: Synthesis,
    dst: PathName,
    *,
    with_parents: bool,
    to: str | None,
    none_hint: str | None = None,
) -> SynthReport:
    """Write what was generated, and report it. Raises `UsageError` if there is nothing."""
    if not made.cases:
        reasons = ", ".join(f"{number:,} {reason}" for reason, number in made.skipped.items())
        message = f"nothing was generated{f': {reasons}' if reasons else ''}"
        raise UsageError(message, hint=none_hint)
    name = source.name if with_parents else f"{source.name}-synthetic"
    bare = (msgspec.structs.replace(case, origin=None) for case in source.cases if with_parents)
    form = to or format_name(source)
    losses = save_with_losses(
        Dataset(name=name, cases=join_cases(bare, made.cases), tags=source.tags),
        dst,
        format=form,
        overwrite=False,
        hint="pass another file name",
    )
    return SynthReport(
        cases=len(made.cases),
        parents=len({str(case.metadata[PARENT]) for case in made.cases if PARENT in case.metadata}),
        skipped=made.skipped,
        coverage=made.coverage,
        format=form or "",
        losses=losses,
    )


def invariance(run: str, golden: PathName, *, store: str | None = None) -> Invariance:
    """Measure the share of variants in a run whose outcome is that of their parent. `golden` is
    the dataset of the run, with variants and parents: `synth` writes it `with_parents`."""
    return measure_invariance(find_run(run, store=store), load(golden).cases)


def _choose_relations(names: list[str]) -> list[Relation]:
    for name in names:
        if name not in RELATIONS:
            known = ", ".join(RELATIONS)
            hint = did_you_mean(name, RELATIONS) or f"expected one of: {known}"
            raise UsageError(f"unknown relation {name!r}", hint=hint)
    return [relation for name, relation in RELATIONS.items() if not names or name in names]


def check_quotas(quotas: Mapping[str, int]) -> dict[str, int]:
    for key, number in quotas.items():
        axis, _, value = key.partition(":")
        if axis not in AXES or not value:
            hint = f"expected a property such as tool:NAME; one of: {', '.join(AXES)}"
            raise UsageError(f"invalid quota {key!r}", hint=hint)
        if number < 0:
            raise UsageError(f"quota {key!r}: expected 0 or more, got {number}")
    return dict(quotas)


def _read_tools(path: Path) -> dict[str, ToolSchema]:
    try:
        document: Json = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"not JSON: {error}", where=str(path)) from error
    tools = find_tools(document)
    if not tools:
        hint = 'expected a list such as [{"name": "find_order", "parameters": {…}}]'
        raise FormatError("no tool declarations", where=str(path), hint=hint)
    return tools
