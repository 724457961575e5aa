from __future__ import annotations

from carob.datasets.lint.check import Found, Item, Place
from carob.datasets.lint.tools import UndeclaredTools
from carob.schema import Case, Dataset, Json, ToolCall, Turn


def case(*calls: str, tools: tuple[str, ...] | None = None, app: dict[str, Json] | None = None):
    expected = tuple(ToolCall(name=name) for name in calls)
    return Case(id="c", turns=(Turn(user="Hi", app=app),), tool_calls=expected, tools=tools)


def found(*cases: Case) -> list[Found]:
    check = UndeclaredTools()
    seen = [one for case in cases for one in check.see(Item(case, {}, Place(case.id)))]
    return [*seen, *check.end(Dataset(name="n"), len(cases))]


def test_a_call_of_a_tool_that_the_case_does_not_list_is_found():
    (one,) = found(case("lookup_ordr", "find_stock", tools=("lookup_order", "find_stock")))
    assert one.message == "a call of 'lookup_ordr' is expected, which no agent declares"
    assert one.hint == "did you mean 'lookup_order'?"


def test_agents_declare_tools_in_either_spelling():
    agent: Json = {"toolDeclarations": [{"functionDeclarations": [{"name": "lookup_order"}]}]}
    other: Json = {"tool_declarations": [{"function_declarations": [{"name": "find_stock"}]}]}
    app: dict[str, Json] = {"orders": agent, "stock": other}
    assert found(case("lookup_order", "find_stock", app=app)) == []
    assert len(found(case("cancel_order", app=app))) == 1


def test_a_case_without_a_list_is_held_against_what_the_file_declares():
    listed = case("lookup_order", tools=("lookup_order",))
    assert found(case("lookup_order"), listed) == []
    assert [one.hint for one in found(case("send_mail"), listed)] == ["declared are lookup_order"]


def test_where_nothing_is_declared_nothing_is_undeclared():
    assert found(case("lookup_order")) == []


def test_declarations_of_another_shape_are_no_declarations():
    odd: dict[str, Json] = {
        "a": None,
        "b": {"tool_declarations": {"x": 1}},
        "c": {"tool_declarations": [1]},
    }
    assert found(case("lookup_order", app=odd)) == []
