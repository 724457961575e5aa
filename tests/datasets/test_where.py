from __future__ import annotations

import pytest

from carob.datasets.where import where
from carob.errors import UsageError
from carob.schema import Case, ToolCall, Turn

CASE = Case(
    id="refund-1",
    turns=(
        Turn(user="Hi", tool_calls=(ToolCall(name="find_order", args={"id": 7}),)),
        Turn(user="Refund it", response="Done."),
    ),
    context=None,
    tags=("edge-case", "billing"),
    metadata={"criticality": "high", "weight": 3, "odd key": True, "source": "tickets"},
)


@pytest.mark.parametrize(
    "text",
    [
        'metadata.criticality == "high" and "edge-case" in tags',
        '"find_order" in turns.tool_calls.name',
        "len(turns) == 2",
        "len(turns) > 1 and not context",
        "1 < metadata.weight <= 3",
        'metadata["odd key"] == true',
        'id in ["refund-1", "refund-2"]',
        "context == null",
        "metadata.missing == None",
        'lineage.source == "tickets"',
        '"Refund" in id or "Refund it" in turns.user',
        "metadata.weight > -1",
    ],
)
def test_an_expression_that_holds(text: str):
    assert where(text)(CASE)


@pytest.mark.parametrize(
    "text",
    [
        'metadata.criticality == "low"',
        '"x" in context',
        'metadata.weight < "3"',
        "metadata.weight.deeper == 1",
        "not id",
    ],
)
def test_an_expression_that_does_not_hold(text: str):
    assert not where(text)(CASE)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "id.upper()",
        "(lambda: 1)()",
        "[x for x in tags]",
        "metadata[0]",
        "turns[0].user",
        "id if id else id",
        "1 + 1",
        "f'{id}'",
        "id is None",
        "(id := 1)",
        "b'x' == id",
    ],
)
def test_what_is_not_an_expression_over_fields_is_refused(text: str):
    with pytest.raises(UsageError, match=r"is not possible in an expression|is no expression"):
        where(text)


@pytest.mark.parametrize("text", ["", "id ==", "(" * 1_500, "\0", "x" * 3_000])
def test_broken_text_is_an_error_and_not_a_crash(text: str):
    with pytest.raises(UsageError):
        where(text)


def test_a_long_chain_is_carried_out():
    assert where("not " * 498 + "id")(CASE)


def test_a_misspelt_field_is_an_error_before_anything_is_filtered():
    with pytest.raises(UsageError, match="no field 'tgas'") as error:
        where('"a" in tgas')
    assert str(error.value.hint).startswith("did you mean 'tags'?")
    with pytest.raises(UsageError, match="no field 'usr'"):
        where("turns.usr == 1")
