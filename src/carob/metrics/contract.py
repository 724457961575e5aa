from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.schema import Case, Json, Score, Trace, Unscored

if TYPE_CHECKING:
    from jsonschema import ValidationError

_TOLD = 5


@dataclass(frozen=True, kw_only=True)
class Contract(Metric):
    """Whether the answer is JSON of the shape that the case expects.

    1 if the last response parses as JSON and satisfies the JSON Schema that `contracts` gives for
    the name of the case's contract, else 0. References to other documents are not followed.
    """

    name: ClassVar[str] = "contract"
    version: ClassVar[int] = 1
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.contract")
    imports: ClassVar[tuple[str, ...]] = ("jsonschema",)

    contracts: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if case.contract is None:
            return Unscored(reason="the case expects no contract")
        schema = self.contracts.get(case.contract)
        if schema is None:
            known = ", ".join(sorted(self.contracts)) or "none"
            return Unscored(reason=f"no schema is given for {case.contract!r}; given: {known}")
        response = trace.turns[-1].response if trace.turns else None
        if response is None:
            return Unscored(reason="the response was not recorded")
        return _checked(response, schema, case.contract)


def _checked(response: str, schema: dict[str, Any], name: str) -> Score:
    try:
        answer = msgspec.json.decode(response)
    except (msgspec.DecodeError, RecursionError) as error:
        return Score(value=0.0, reason=f"the response is no JSON: {error}")
    wrong = _violations(answer, schema)
    if not wrong:
        return Score(value=1.0)
    more = len(wrong) - _TOLD
    lines = [*wrong[:_TOLD], f"and {more} more"] if more > 0 else wrong
    return Score(
        value=0.0, reason=f"{name}: {'; '.join(lines)}", details={"violations": len(wrong)}
    )


def _violations(answer: Json, schema: dict[str, Any]) -> list[str]:
    from jsonschema.validators import validator_for  # optional
    from referencing import Registry

    kind = validator_for(schema)
    kind.check_schema(schema)
    # An empty registry: without one, jsonschema fetches what a `$ref` names.
    validator = kind(schema, registry=Registry())
    errors: list[ValidationError] = list(validator.iter_errors(answer))
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]
