from __future__ import annotations

import pytest

from carob.datasets.where import compile_where
from carob.errors import UsageError
from carob.schema import Case, ToolCall, Trace, Turn

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
def test_matching_expression_is_true(text: str):
    assert compile_where(text)(CASE)


def test_fields_have_their_json_names():
    case = Case(id="refund-1", recorded=Trace(id="t-1"))
    assert compile_where('recording.id == "t-1"')(case)
    with pytest.raises(UsageError, match="unknown field 'recorded'"):
        compile_where("recorded == None")


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
def test_other_expression_is_false(text: str):
    assert not compile_where(text)(CASE)


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
def test_unsupported_expression_is_rejected(text: str):
    with pytest.raises(UsageError, match=r"unsupported expression|invalid expression"):
        compile_where(text)


@pytest.mark.parametrize("text", ["", "id ==", "(" * 1_500, "\0", "x" * 3_000])
def test_invalid_syntax_is_an_error_and_not_a_crash(text: str):
    with pytest.raises(UsageError):
        compile_where(text)


def test_long_chain_is_supported():
    assert compile_where("not " * 498 + "id")(CASE)


def test_unknown_field_is_an_error_before_anything_is_filtered():
    with pytest.raises(UsageError, match="unknown field 'tgas'") as error:
        compile_where('"a" in tgas')
    assert str(error.value.hint).startswith("did you mean 'tags'?")
    with pytest.raises(UsageError, match="unknown field 'usr'"):
        compile_where("turns.usr == 1")


@pytest.mark.parametrize("text", ["turns > 3", "not (3 < tags)", 'turns.tool_calls.name >= "a"'])
def test_order_of_a_list_is_an_error(text: str):
    with pytest.raises(UsageError, match="which is a list") as error:
        compile_where(text)
    assert "did you mean len(" in (error.value.hint or "")
