"""The `contract` metric: responses checked against a JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, cast

import msgspec

from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.patterns import compile_pattern
from carob.metrics.text.responses import missing_response
from carob.schema import Case, Json, Score, Trace, Unscored

if TYPE_CHECKING:
    from jsonschema import ValidationError

_MAX_SHOWN = 5  # violations in a reason


@dataclass(frozen=True, kw_only=True)
class Contract(Metric):
    """Whether the last response is JSON that satisfies the schema of the case's contract.

    1 or 0. `contracts` maps names of contracts to JSON Schemas. Patterns in a schema are in RE2
    syntax. References to other documents are not followed.
    """

    name: ClassVar[str] = "contract"
    version: ClassVar[int] = 3
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.contract")
    imports: ClassVar[tuple[str, ...]] = ("jsonschema", "re2")

    contracts: Mapping[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def __post_init__(self) -> None:
        for name, schema in self.contracts.items():
            # jsonschema runs these two together with Python's `re`, which a pattern can hang.
            if {"patternProperties", "unevaluatedProperties"} <= {*_keys(schema)}:
                raise ValueError(
                    f"contracts: {name}: unevaluatedProperties with patternProperties is not"
                    " supported, use additionalProperties"
                )

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        if case.contract is None:
            return Unscored(reason="the case expects no contract", not_applicable=True)
        schema = self.contracts.get(case.contract)
        if schema is None:
            known = ", ".join(sorted(self.contracts)) or "none"
            return Unscored(reason=f"no schema for the contract {case.contract!r}; known: {known}")
        last = trace.turns[-1] if trace.turns else None
        if last is None or last.response is None:
            return missing_response(trace, last)
        return _check_response(last.response, schema, case.contract)


def _check_response(response: str, schema: dict[str, Any], name: str) -> Score:
    try:
        answer = msgspec.json.decode(response)
    except (msgspec.DecodeError, RecursionError) as error:
        return Score(value=0.0, reason=f"the response is not valid JSON: {error}")
    violations = find_violations(answer, schema)
    if not violations:
        return Score(value=1.0)
    more = len(violations) - _MAX_SHOWN
    lines = [*violations[:_MAX_SHOWN], f"and {more} more"] if more > 0 else violations
    reason = f"{name}: {'; '.join(lines)}"
    return Score(value=0.0, reason=reason, details={"violations": len(violations)})


def find_violations(answer: Json, schema: dict[str, Any]) -> list[str]:
    """Return where and how an answer violates a JSON Schema."""
    from jsonschema.validators import validator_for  # late: an optional package
    from referencing import Registry

    kind = validator_for(schema)
    kind.check_schema(schema)
    # An empty registry: without one, jsonschema downloads the documents that a `$ref` names.
    registry: Registry[Any] = Registry()
    validator = _with_re2(kind)(schema, registry=registry)
    errors: list[ValidationError] = list(validator.iter_errors(answer))
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


@lru_cache(maxsize=16)
def _with_re2(kind: Any) -> Any:
    """Replace every keyword of a validator class that runs a pattern of the schema."""
    from jsonschema import validators

    stock = cast("Mapping[str, Any]", kind.VALIDATORS)["additionalProperties"]

    def check_additional(
        validator: Any, allowed: Any, instance: Any, schema: dict[str, Any]
    ) -> Iterator[ValidationError]:
        patterns = schema.get("patternProperties")
        if not patterns or not isinstance(instance, dict):
            return stock(validator, allowed, instance, schema)
        # Properties that a pattern allows are taken out, so that the stock keyword, without
        # patterns, sees only the others.
        properties = cast("dict[str, Json]", instance)
        others = {key: properties[key] for key in properties if not _matches_any(patterns, key)}
        plain = {key: part for key, part in schema.items() if key != "patternProperties"}
        return stock(validator, allowed, others, plain)

    replaced = {
        "pattern": _check_pattern,
        "patternProperties": _check_pattern_properties,
        "additionalProperties": check_additional,
    }
    return cast("Any", validators).extend(kind, replaced)


def _check_pattern(
    _validator: Any, pattern: str, instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if isinstance(instance, str) and not compile_pattern(pattern).search(instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: Mapping[str, Any], instance: Any, _schema: Any
) -> Iterator[ValidationError]:
    if not isinstance(instance, dict):
        return
    properties = cast("dict[str, Json]", instance)
    for pattern, subschema in patterns.items():
        for key, value in properties.items():
            if compile_pattern(pattern).search(key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _matches_any(patterns: Iterable[str], key: str) -> bool:
    return any(compile_pattern(pattern).search(key) for pattern in patterns)


def _keys(value: object) -> Iterator[str]:
    """Return the keys of all objects in a JSON value."""
    if isinstance(value, dict):
        for key, part in cast("dict[str, object]", value).items():
            yield key
            yield from _keys(part)
    elif isinstance(value, list):
        for part in cast("list[object]", value):
            yield from _keys(part)
