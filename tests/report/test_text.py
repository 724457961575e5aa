from __future__ import annotations

from carob.report.text import columns, conversion, printable, validations
from carob.schema import Conversion, Loss, Problem, Validation


def test_hostile_text_cannot_command_the_terminal():
    assert printable("a\x1b[2Jb\u202ec\r\n") == "a\\x1b[2Jb\\u202ec\\x0d\n"


def test_a_validation_names_each_problem_with_its_hint():
    problem = Problem(where="line 3 $.id", message="found null, expected a text", hint="add one")
    one = Validation(path="g.json", format="adk", valid=False, cases=2, problems=(problem,))
    assert validations([one]) == (
        "g.json: not valid (adk, 2 cases, 1 error)\n"
        "  error: line 3 $.id: found null, expected a text\n"
        "    hint: add one\n"
    )


def test_a_conversion_groups_losses_by_case():
    losses = (
        Loss(case=None, field="version", reason="csv has no place for it"),
        Loss(case="a", field="state", reason="csv has no place for it"),
        Loss(case="a", field="agents", reason="csv has no place for it"),
    )
    made = Conversion(source="adk", target="csv", cases=1, losses=losses, carried=True)
    assert conversion(made) == (
        "adk → csv: 1 case\n"
        "csv has no place for 3 fields, carried along for the way back:\n"
        "  the dataset: version\n"
        "  a: state, agents\n"
    )


def test_a_name_with_line_breaks_cannot_pass_for_a_line_of_the_report():
    rows = [["case", "status"], ["a\npassed: all\x1b[2J", "draft"], ["b", "draft"]]
    assert [*columns(rows)] == [
        "case                  status",
        "a passed: all\\x1b[2J   draft",
        "b                      draft",
    ]
