"""Assemble a run from results: its id, summary, verdict and description of the dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import UNSET

from carob.analysis.summary import summarise, verdict
from carob.api.clock import now
from carob.api.load import format_name
from carob.files.spool import encode_items
from carob.schema import (
    Case,
    CaseResult,
    CaseSelection,
    Dataset,
    MetricSpec,
    Run,
    RunDataset,
    RunTarget,
    UnmatchedTrace,
)
from carob.schema.digest import dataset_digest, run_id

_encode = msgspec.json.Encoder().encode


def assemble_run(
    dataset: RunDataset | None,
    metrics: tuple[MetricSpec, ...],
    results: Sequence[CaseResult],
    cases: Mapping[str, Case],
    *,
    unmatched: tuple[UnmatchedTrace, ...] = (),
    selection: CaseSelection | None = None,
    by: Sequence[str] = (),
    target: RunTarget | None = None,
) -> Run:
    """Build a run with its id, summary and verdict from results in the order of the dataset. The
    dataset is the whole one, also if only some of its cases are selected."""
    summary = summarise(results, cases, by)
    return Run(
        id=run_id(
            _encode(dataset),
            _encode(metrics),
            encode_items(results, _encode),
            _encode(target) if target else None,
        ),
        created_at=now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        verdict=verdict(summary),
        dataset=dataset,
        metrics=metrics,
        cases=results,
        summary=summary,
        unmatched=unmatched,
        selection=selection or UNSET,
        target=target or UNSET,
    )


def dataset_info(dataset: Dataset) -> RunDataset:
    """Return the description of golden data that a run records."""
    return RunDataset(
        name=dataset.name,
        version=dataset.version,
        digest=dataset_digest(dataset),
        format=format_name(dataset),
    )
