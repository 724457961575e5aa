from __future__ import annotations

from carob.report.datasets import format_conversion, format_validations
from carob.schema import Conversion, Loss, Problem, Validation


def test_validation_names_each_problem_with_its_hint():
    problem = Problem(where="line 3 $.id", message="found null, expected a text", hint="add one")
    validation = Validation(path="g.json", format="adk", valid=False, cases=2, problems=(problem,))
    assert format_validations([validation]) == (
        "g.json: not valid (adk, 2 cases, 1 error)\n"
        "  error: line 3 $.id: found null, expected a text\n"
        "    hint: add one\n"
    )


def test_conversion_groups_losses_by_case():
    losses = (
        Loss(case=None, field="version", reason="no equivalent in csv"),
        Loss(case="a", field="state", reason="no equivalent in csv"),
        Loss(case="a", field="agents", reason="no equivalent in csv"),
    )
    conversion = Conversion(source="adk", target="csv", cases=1, losses=losses, carried=True)
    assert format_conversion(conversion) == (
        "adk → csv: 1 case\n"
        "3 fields have no equivalent in csv; preserved for round-tripping:\n"
        "  dataset: version\n"
        "  a: state, agents\n"
    )
