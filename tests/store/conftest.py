from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from carob.schema import (
    CaseCounts,
    CaseResult,
    CaseScore,
    MetricSpec,
    MetricSummary,
    Run,
    RunDataset,
    RunSummary,
    SummaryGroup,
)
from carob.schema.digest import run_id
from carob.store import Database, open_store
from carob.store.document import split_run
from tests.postgres import server

MakeRun = Callable[..., Run]
METRIC = "tool_trajectory_avg_score"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new store of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "carob.db")
    url: str = request.getfixturevalue("postgres")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS carob CASCADE")
    return url


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    with ExitStack() as stack:
        yield stack.enter_context(open_store(store_url, create=True))


@pytest.fixture
def make_run() -> MakeRun:
    return _run


def _run(
    *values: float | None,
    created_at: str = "2026-03-01T12:00:00Z",
    dataset: str = "shop",
    tags: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
) -> Run:
    """A run with these scores."""
    cases = tuple(_result(number, value) for number, value in enumerate(values or (1.0, 0.5)))
    groups = [("tag", tag) for tag in tags] + [("agent", agent) for agent in agents]
    passed = sum(case.status == "passed" for case in cases)
    counts = CaseCounts(total=len(cases), passed=passed, failed=len(cases) - passed)
    run = Run(
        id="",
        created_at=created_at,
        verdict="passed" if passed == len(cases) else "failed",
        dataset=RunDataset(name=dataset, version="1.0.0", digest=f"sha256:{dataset}", format="adk"),
        metrics=(_use(),),
        cases=cases,
        summary=RunSummary(
            cases=counts,
            metrics={METRIC: MetricSummary(mean=0.75, passed=passed)},
            groups=tuple(
                SummaryGroup(by=by, value=of, cases=counts, means={}) for by, of in groups
            ),
        ),
    )
    return _with_id(run)


def _with_id(run: Run) -> Run:
    from msgspec.json import encode
    from msgspec.structs import replace

    name = run_id(encode(run.dataset), encode(run.metrics), split_run(run).bodies)
    return replace(run, id=name)


def _use() -> MetricSpec:
    return MetricSpec(
        name=METRIC, version=1, params={}, threshold=1.0, scale=(0.0, 1.0), better="higher"
    )


def _result(number: int, value: float | None) -> CaseResult:
    good = value is not None and value >= 1
    status = "unscored" if value is None else "passed" if good else "failed"
    score = CaseScore(metric=METRIC, status=status, value=value, threshold=1.0, reason="as told")
    return CaseResult(
        case=f"case_{number}", trace=f"trace_{number}", status=status, scores=(score,)
    )
