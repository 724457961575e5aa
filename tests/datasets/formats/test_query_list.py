from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.datasets.formats.query_list import QueryListFormat
from carob.datasets.shape_errors import find_shape_errors
from carob.datasets.source import open_source
from carob.errors import FormatError
from carob.schema import AgentMessage, Case, CaseSession, Json, Problem, ToolCall, Turn, content_id

SAMPLES = Path(__file__).parents[2] / "samples" / "test"
FORM = QueryListFormat()
LENS = FORM.cases("document")


def cases(document: Json) -> list[Case]:
    return [LENS.read(item) for item in FORM.items(document)]


def check(document: Json) -> list[Problem]:
    return [problem for item in FORM.items(document) for problem in FORM.check(item)]


def test_flat_list_is_one_case_with_a_turn_for_each_query():
    use: Json = {"tool_name": "find", "tool_input": {"id": 1}}
    messages: Json = [{"author": "support", "text": "Let me look."}]
    first: Json = {"query": "Hi", "expected_tool_use": []}
    second: Json = {
        "query": "Where?",
        "expected_tool_use": [use],
        "expected_intermediate_agent_responses": messages,
        "reference": "There.",
    }
    (case,) = cases([first, second])
    assert case.id == content_id("Hi", "Where?")
    assert case.turns == (
        Turn(user="Hi", tool_calls=()),
        Turn(
            user="Where?",
            response="There.",
            tool_calls=(ToolCall(name="find", args={"id": 1}),),
            messages=(AgentMessage(agent="support", text="Let me look."),),
        ),
    )


def test_each_named_test_is_a_case_with_its_session():
    session: Json = {"app_name": "shop", "user_id": "u1", "state": {"tier": "gold"}}
    first: Json = {"name": "a", "data": [{"query": "Hi"}], "initial_session": session}
    second: Json = {"name": "b", "data": [{"query": "Bye"}], "initial_session": {}}
    first_case, second_case = cases([first, second])
    assert (first_case.id, second_case.id) == ("a", "b")
    assert first_case.session == CaseSession(app="shop", user="u1", state={"tier": "gold"})
    assert second_case.session is None


def test_unknown_keys_are_metadata_under_their_path():
    use: Json = {"tool_name": "find", "mock_tool_output": [1]}
    turn: Json = {"query": "Hi", "expected_tool_use": [use], "owner": "team"}
    (flat,) = cases([turn])
    (case,) = cases([{"name": "a", "data": [turn], "reviewed": True}])
    assert flat.metadata == {"[0].owner": "team", "[0].expected_tool_use[0].mock_tool_output": [1]}
    assert case.metadata == {
        "reviewed": True,
        "data[0].owner": "team",
        "data[0].expected_tool_use[0].mock_tool_output": [1],
    }


def test_same_queries_get_the_same_id_with_any_answer():
    assert cases([{"query": "Hi", "reference": "a"}])[0].id == cases([{"query": "Hi"}])[0].id


def test_read_only_format_has_no_rest():
    assert LENS.find_extra([{"query": "Hi", "owner": "team"}]) is None


@given(st.lists(st.text(max_size=5), min_size=1, max_size=4))
def test_turn_boundaries_are_preserved(queries: list[str]):
    (case,) = cases([{"query": query, "reference": query} for query in queries])
    assert [turn.user for turn in case.turns] == queries
    assert [turn.response for turn in case.turns] == queries


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_sample_is_claimed_and_valid(path: Path):
    document = open_source(path).document
    assert FORM.claims(document)
    assert list(find_shape_errors(document, FORM.shape)) == []
    assert check(document) == []


OTHER_DOCUMENTS: list[Json] = [[], {}, None, [1], [{"name": "a"}], {"query": "Hi"}]


@pytest.mark.parametrize("sample", OTHER_DOCUMENTS)
def test_other_documents_are_not_claimed(sample: Json):
    assert not FORM.claims(sample)


BROKEN: list[tuple[Json, str, str]] = [
    ([{"query": "Hi"}, {"reference": "x"}], "$[1]", "missing field 'query'"),
    (
        [{"name": "a", "data": [{"query": "Hi", "expected_tool_use": [{}]}]}],
        "$.data[0].expected_tool_use[0]",
        "missing field 'tool_name'",
    ),
    ([{"name": "a", "data": []}], "$", "no turns in 'data'"),
    ([{"data": [{"query": "Hi"}]}], "$", "missing field 'name'"),
]


@pytest.mark.parametrize(("document", "where", "message"), BROKEN)
def test_broken_rule_is_reported_with_its_path(document: Json, where: str, message: str):
    (problem,) = check(document)
    assert (problem.where, problem.message) == (where, message)


def test_wrong_type_is_reported_with_its_path():
    with pytest.raises(FormatError) as caught:
        cases(cast("Json", [{"query": "Hi"}, {"query": 3}]))
    assert caught.value.where == "$[1].query"
