"""The `assertions` metric: checks that each case states for itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import ClassVar

import msgspec

from carob.metrics.agents.trajectory import edit_distance
from carob.metrics.metric import Metric
from carob.metrics.needs import Need
from carob.metrics.patterns import compile_pattern
from carob.metrics.text.contract import find_violations
from carob.metrics.text.responses import missing_response
from carob.metrics.tools.calls import NOT_RECORDED, format_value, recorded_calls
from carob.metrics.usage.latency import measured_ms
from carob.schema import Case, Failed, Json, Score, Trace, Unscored
from carob.schema.assertion import Assertion, stated_assertions
from carob.schema.base import prepare_type
from carob.schema.equality import json_equal

_MAX_DISTANCE = 5
"""The default of promptfoo for `levenshtein`."""
_TOOL_KEYS = frozenset({"name", "pattern", "min", "max"})


@dataclass(frozen=True, kw_only=True)
class Assertions(Metric):
    """Share of the assertions of the case that hold for the last response.

    A case lists them in its reference data as promptfoo does, such as
    `"assertions": [{"type": "not-contains", "value": "refund"}]`. Types: `equals`, `contains`,
    `contains-any`, `contains-all`, the same three with `i` before them to ignore case,
    `starts-with`, `regex` (RE2), `levenshtein`, `word-count`, `is-json` (with a JSON Schema as its
    value), `latency` (at most `threshold` milliseconds) and `trajectory:tool-used`. With `not-`
    before its type, an assertion must not hold.
    """

    name: ClassVar[str] = "assertions"
    version: ClassVar[int] = 2
    threshold: ClassVar[float | None] = 1.0
    needs: ClassVar[tuple[Need, ...]] = ("response", "case.assertions")

    def score(self, case: Case, trace: Trace) -> Score | Unscored | Failed:
        stated = stated_assertions(case.reference)
        if not stated:
            return Unscored(reason="the case states no assertions", not_applicable=True)
        try:
            assertions = msgspec.convert(stated, prepare_type(tuple[Assertion, ...]))
        except msgspec.ValidationError as error:
            return Failed(kind="invalid assertion", message=str(error))
        broken: list[str] = []
        for assertion in assertions:
            holds = _check(assertion, trace)
            if not isinstance(holds, bool):
                return holds
            if holds == assertion.is_negated:
                broken.append(_describe(assertion))
        value = (len(assertions) - len(broken)) / len(assertions)
        return Score(value=value, reason=f"does not hold: {'; '.join(broken)}" if broken else "")


def _check(assertion: Assertion, trace: Trace) -> bool | Score | Unscored | Failed:
    kind = assertion.base_type
    if kind == "trajectory:tool-used":
        return _uses_tool(assertion, trace)
    if kind == "latency":
        measured = measured_ms(trace)
        return measured if isinstance(measured, Unscored) else measured <= _limit(assertion)
    check = _CHECKS.get(kind)
    if check is None:
        return Failed(kind="invalid assertion", message=f"unknown type {assertion.type!r}")
    last = trace.turns[-1] if trace.turns else None
    if last is None or last.response is None:
        return missing_response(trace, last)
    return check(assertion, last.response)


def _describe(assertion: Assertion) -> str:
    value = assertion.threshold if assertion.value is None else assertion.value
    return assertion.type if value is None else f"{assertion.type} {format_value(value)}"


def _limit(assertion: Assertion) -> float:
    if assertion.threshold is None:
        raise ValueError(f"{assertion.type!r} needs a threshold")
    return assertion.threshold


def _equals(assertion: Assertion, response: str) -> bool:
    if not isinstance(assertion.value, dict | list):
        return _stated_text(assertion) == response
    try:
        return json_equal(msgspec.json.decode(response), assertion.value)
    except (msgspec.DecodeError, RecursionError):
        return False


def _stated_text(assertion: Assertion) -> str:
    # Without this, `not-equals` and `not-regex` without a value would hold for every response.
    if assertion.value is None:
        raise ValueError(f"{assertion.type!r} needs a value")
    return _text(assertion.value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _texts(assertion: Assertion) -> list[str]:
    values = assertion.value if isinstance(assertion.value, list) else [assertion.value]
    texts = [_text(value) for value in values]
    if not texts or not all(texts) or assertion.value is None:
        raise ValueError(f"{assertion.type!r} needs a text")  # an empty text is in every response
    return texts


def _only_text(assertion: Assertion) -> str:
    text, *others = _texts(assertion)
    if others:
        raise ValueError(f"{assertion.type!r} needs a single text")
    return text


def _contains(assertion: Assertion, response: str) -> bool:
    texts = _texts(assertion)
    if assertion.base_type.startswith("icontains"):
        response, texts = response.lower(), [text.lower() for text in texts]
    found = [text in response for text in texts]
    return any(found) if assertion.base_type.endswith("-any") else all(found)


def _counts_words(assertion: Assertion, response: str) -> bool:
    count, value = len(re.findall(r"\S+", response)), assertion.value
    if not isinstance(value, dict):
        return count == float(_stated_text(assertion))
    least, most = value.get("min", 0), value.get("max")
    if not isinstance(least, int | float) or not isinstance(most, int | float | None):
        raise ValueError("'word-count' needs numbers")
    if value.keys() - {"min", "max"} or all(limit is None for limit in value.values()):
        raise ValueError("'word-count' needs a number, or `min` and `max`")
    return least <= count and (most is None or count <= most)


def _is_json(assertion: Assertion, response: str) -> bool:
    schema = assertion.value
    if schema is not None and not isinstance(schema, dict):
        raise ValueError(f"{assertion.type!r} needs a JSON Schema, found {format_value(schema)}")
    try:
        answer = msgspec.json.decode(response)
    except (msgspec.DecodeError, RecursionError):
        return False
    return schema is None or not find_violations(answer, schema)


def _is_near(assertion: Assertion, response: str) -> bool:
    text = _stated_text(assertion)
    limit = _MAX_DISTANCE if assertion.threshold is None else assertion.threshold
    # Every character that one text has more is a step, and the distance takes a while.
    return abs(len(text) - len(response)) <= limit and edit_distance(text, response) <= limit


_CHECKS: Mapping[str, Callable[[Assertion, str], bool]] = {
    "equals": _equals,
    **dict.fromkeys(("contains", "contains-any", "contains-all"), _contains),
    **dict.fromkeys(("icontains", "icontains-any", "icontains-all"), _contains),
    "starts-with": lambda assertion, response: response.startswith(_only_text(assertion)),
    "regex": lambda assertion, response: bool(
        compile_pattern(_only_text(assertion)).search(response)
    ),
    "levenshtein": _is_near,
    "word-count": _counts_words,
    "is-json": _is_json,
}


def _uses_tool(assertion: Assertion, trace: Trace) -> bool | Unscored:
    """Whether all of the named tools were called, or one as often as an object states."""
    calls = recorded_calls(trace)
    if calls is None or not trace.turns:
        return NOT_RECORDED
    names, value = [call.name for call in calls], assertion.value
    if not isinstance(value, dict):
        called = [name in names for name in _texts(assertion)]
        return any(called) if assertion.is_negated else all(called)  # none of them, or all
    pattern = _text(value.get("pattern") or value.get("name") or "")
    if unknown := value.keys() - _TOOL_KEYS:
        raise ValueError(f"{assertion.type!r} has no {', '.join(map(repr, sorted(unknown)))}")
    if not pattern:
        raise ValueError(f"{assertion.type!r} needs the name of a tool")
    count = sum(fnmatchcase(name.lower(), pattern.lower()) for name in names)
    least, most = value.get("min", 1), value.get("max")
    if not isinstance(least, int) or not isinstance(most, int | None):
        raise ValueError("'trajectory:tool-used' needs whole numbers")
    return least <= count and (most is None or count <= most)
