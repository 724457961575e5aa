from __future__ import annotations

from collections.abc import Sequence

import pytest

from carob.files.spool import Spool
from carob.runner.job import ScoringJob
from carob.runner.pairing import Pair
from carob.runner.plan import Plan
from carob.schema import Case, Trace, Turn
from carob.schema.codec import CASES
from carob.schema.digest import expectation_digest


def attempt(answer: str) -> Case:
    """A row that repeats the id of its case, because each row is one attempt at it."""
    return Case(id="refund", turns=(Turn(user="Where is my money?", response=answer),))


def in_file(cases: Sequence[Case]) -> Sequence[Case]:
    spool = Spool(CASES, in_memory=0)
    spool.extend(cases)
    return spool.finish()


@pytest.mark.parametrize("hold", [tuple, in_file])
def test_result_has_the_digest_of_the_row_that_was_scored(hold: type[tuple[Case, ...]]):
    rows = hold([attempt("On its way."), attempt("Paid on 3 March.")])
    job = ScoringJob(plan=Plan(metrics=()), cases=rows)
    pairs = [Pair(row, Trace(id=f"t{n}"), "the same row") for n, row in enumerate(rows)]
    for order in (pairs, pairs[::-1], pairs * 2):
        results = job.score(lambda order=order: order).results
        assert [result.digest for result in results] == [
            expectation_digest(pair.case) for pair in order if pair.case
        ]
