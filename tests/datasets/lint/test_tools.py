from __future__ import annotations

from carob.datasets.lint.rules import CaseLocation, LintItem, LintOptions, Violation
from carob.datasets.lint.tools import UndeclaredTools
from carob.schema import Case, Dataset, Json, ToolCall, Turn


def case(*calls: str, tools: tuple[str, ...] | None = None, app: dict[str, Json] | None = None):
    expected = tuple(ToolCall(name=name) for name in calls)
    return Case(id="c", turns=(Turn(user="Hi", app=app),), tool_calls=expected, tools=tools)


def violations(*cases: Case) -> list[Violation]:
    family = UndeclaredTools(LintOptions())
    items = [LintItem(case, {}, CaseLocation(case.id)) for case in cases]
    visited = [violation for item in items for violation in family.visit(item)]
    return [*visited, *family.finish(Dataset(name="n"), len(cases))]


def test_call_of_a_tool_that_the_case_does_not_list_is_reported():
    (violation,) = violations(
        case("lookup_ordr", "find_stock", tools=("lookup_order", "find_stock"))
    )
    assert violation.message == "expected tool 'lookup_ordr' is not declared by any agent"
    assert violation.hint == "did you mean 'lookup_order'?"


def test_agents_declare_tools_in_either_spelling():
    agent: Json = {"toolDeclarations": [{"functionDeclarations": [{"name": "lookup_order"}]}]}
    nested: Json = {"tool_declarations": [{"function_declarations": [{"name": "find_stock"}]}]}
    app: dict[str, Json] = {"orders": agent, "stock": nested}
    assert violations(case("lookup_order", "find_stock", app=app)) == []
    assert len(violations(case("cancel_order", app=app))) == 1


def test_case_without_a_list_is_checked_against_the_tools_of_the_file():
    listed = case("lookup_order", tools=("lookup_order",))
    assert violations(case("lookup_order"), listed) == []
    (violation,) = violations(case("send_mail"), listed)
    assert violation.hint == "declared tools: lookup_order"


def test_file_without_declarations_is_not_checked():
    assert violations(case("lookup_order")) == []


def test_malformed_declarations_are_ignored():
    malformed: dict[str, Json] = {
        "a": None,
        "b": {"tool_declarations": {"x": 1}},
        "c": {"tool_declarations": [1]},
    }
    assert violations(case("lookup_order", app=malformed)) == []
