from __future__ import annotations

import msgspec

from carob.schema import Case, Trace
from carob.schema.digest import case_digest, expectation_digest

CASE = Case.of("Where is my parcel?", "In Lund.", id="parcel", metadata={"team": "orders"})


def test_tags_dates_and_recorded_answers_do_not_change_the_expectation_digest():
    edited = msgspec.structs.replace(
        CASE,
        tags=("orders",),
        created_at="2026-03-01",
        updated_at="2026-03-02",
        recorded=Trace(id="t-1"),
    )
    assert expectation_digest(edited) == expectation_digest(CASE)
    assert case_digest(edited) != case_digest(CASE)


def test_different_answer_question_or_metadata_changes_the_digest():
    variants = [
        Case.of("Where is my parcel?", "In Malmö.", id="parcel", metadata={"team": "orders"}),
        Case.of("Where is it?", "In Lund.", id="parcel", metadata={"team": "orders"}),
        msgspec.structs.replace(CASE, metadata={"team": "returns"}),
    ]
    assert len({expectation_digest(case) for case in [CASE, *variants]}) == 4


def test_recorded_answer_keeps_the_name_recording_in_json():
    case = Case(id="parcel", recorded=Trace(id="t-1"))
    assert msgspec.json.encode(case) == b'{"id":"parcel","recording":{"id":"t-1"}}'
    assert case_digest(case) == (
        "sha256:cb88d3c7ec23269f98579c2c04eac8d4c1f46ce3db9ee260ec0249b82c717e3a"
    )
