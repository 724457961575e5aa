"""Assertions of promptfoo: which expectations of a case they state, and how cases state them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from carob.datasets.formats.reference_data import all_expected_calls
from carob.datasets.formats.row_values import as_text, read_calls
from carob.datasets.patch import Object
from carob.schema import Case, Json, ToolCall, Turn
from carob.schema.assertion import ASSERTION_TYPES, NEGATION, stated_assertions

_ANSWERS = ("equals", "similar", "factuality", "model-graded-factuality")
_RUBRICS = ("llm-rubric", "g-eval", "model-graded-closedqa")
_TOOL_USED, _TOOL_ARGS, _TOOL_SEQUENCE = (
    "trajectory:tool-used",
    "trajectory:tool-args-match",
    "trajectory:tool-sequence",
)
_CONTAINS = ("contains", "contains-all")
_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_LEGACY = {"grade": "llm-rubric", "fn": "javascript", "eval": "javascript"}
_TYPES = frozenset(
    """agent-rubric answer-relevance bleu classifier contains contains-all contains-any
    contains-html contains-json contains-sql contains-xml context-faithfulness context-recall
    context-relevance conversation-relevance cost equals factuality finish-reason g-eval gleu
    guardrails icontains icontains-all icontains-any is-html is-json is-refusal is-sql
    is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call is-xml
    javascript latency levenshtein llm-rubric meteor model-graded-closedqa model-graded-factuality
    moderation perplexity perplexity-score pi python regex rouge-n ruby search-rubric similar
    similar:cosine similar:dot similar:euclidean skill-used starts-with tool-call-f1
    trace-error-spans trace-span-count trace-span-duration trajectory:goal-success
    trajectory:step-count trajectory:tool-args-match trajectory:tool-sequence trajectory:tool-used
    webhook word-count""".split()  # noqa: SIM905 - as a list they would fill a screen
)
_EXPECTED = re.compile(r"(?:not-)?([a-z][a-z0-9-]*(?::[a-z0-9-]+)?)(?:\((\d+(?:\.\d+)?)\))?(:|$)")
_FIELD = re.compile(r'\s*(?:"((?:[^"\\]|\\.|"")*)"|([^,]*))\s*(?:,|$)')
_VARIABLE = re.compile(r"\{\{-?\s*(\w+)\s*-?\}\}")


class Checks(NamedTuple):
    """The expectations that assertions state."""

    answer: str | None = None
    contains: tuple[str, ...] = ()
    rubrics: tuple[str, ...] = ()
    calls: tuple[ToolCall, ...] = ()
    others: tuple[Object, ...] = ()
    """The assertions that the metric `assertions` checks; `equals` is also the answer."""
    unread: tuple[str, ...] = ()
    """The types of the assertions that a case cannot express."""


def read_checks(assertions: Json, variables: Mapping[str, Json]) -> Checks:
    """Read the assertions of a test, with the variables of the test filled in."""
    checks = Checks()
    for assertion in _flatten(assertions):
        checks = _add(checks, assertion, variables)
    return checks


def _flatten(assertions: Json) -> Iterator[Json]:
    """The assertions, with those of a set in its place: all of them must hold, as without it."""
    if isinstance(assertions, str):
        yield assertions
    for assertion in assertions if isinstance(assertions, list) else []:
        members = assertion.get("assert") if isinstance(assertion, dict) else None
        if isinstance(assertion, dict) and members and assertion.get("threshold") is None:
            yield from _flatten(members)
        else:
            yield assertion


def _add(checks: Checks, assertion: Json, variables: Mapping[str, Json]) -> Checks:
    kind, value = _fill_in(assertion, variables)
    texts = _texts(kind, value)
    calls = _read_trajectory(kind, value)
    if isinstance(assertion, dict) and assertion.get("weight") == 0:
        return checks._replace(unread=(*checks.unread, f"{kind} of weight 0"))
    if other := _read_other(kind, value, assertion, calls):
        checks = checks._replace(others=(*checks.others, other))
        is_answer = kind == "equals" and checks.answer is None and isinstance(value, str)
        return checks._replace(answer=value) if is_answer and value else checks
    if kind in _ANSWERS and texts and checks.answer is None:
        return checks._replace(answer=texts[0])
    if kind in _CONTAINS and texts:
        return checks._replace(contains=(*checks.contains, *texts))
    if kind in _RUBRICS and texts:
        return checks._replace(rubrics=(*checks.rubrics, *texts))
    if calls:
        return checks._replace(calls=(*checks.calls, *calls))
    return checks._replace(unread=(*checks.unread, kind))


def _read_other(
    kind: str, value: Json, assertion: Json, calls: tuple[ToolCall, ...] | None
) -> Object | None:
    """An assertion that no field of a case states, and that can be checked; null otherwise."""
    base = kind.removeprefix(NEGATION)
    if base not in ASSERTION_TYPES or kind in _CONTAINS or calls:
        return None
    if base in _LISTS and isinstance(value, str):
        value = split_list(value)
    threshold = assertion.get("threshold") if isinstance(assertion, dict) else None
    if base == "latency":
        return None if threshold is None else {"type": kind, "threshold": threshold}
    values: list[Json] = value if isinstance(value, list) else [value]
    is_elsewhere = any(isinstance(text, str) and text.startswith("file://") for text in values)
    if is_elsewhere or None in values or not values or value == "":
        # A check without a value: only `is-json` needs none, unless its schema is elsewhere.
        has_value = isinstance(assertion, dict) and assertion.get("value") is not None
        return {"type": kind} if base == "is-json" and not has_value else None
    if base == "is-json" and not isinstance(value, dict):
        return None  # a schema as YAML in a text
    limit: Object = {} if threshold is None else {"threshold": threshold}
    return {"type": kind, "value": value, **limit}


def _fill_in(assertion: Json, variables: Mapping[str, Json]) -> tuple[str, Json]:
    """The type of an assertion, and its value with the variables of the test."""
    if not isinstance(assertion, dict):
        return "file" if isinstance(assertion, str) else "unknown", None
    kind = assertion.get("type")
    if not isinstance(kind, str):
        return "$ref" if "$ref" in assertion else "unknown", None
    value = assertion.get("value")
    if isinstance(value, list):
        return kind, [fill_template(text, variables) for text in value]
    return kind, fill_template(value, variables)


def fill_template(value: Json, variables: Mapping[str, Json]) -> Json:
    """A text with the values of its variables; null if it needs more than that."""
    if not isinstance(value, str) or ("{{" not in value and "{%" not in value):
        return value
    known = {name: as_text(text) for name, text in variables.items()}
    text = _VARIABLE.sub(lambda match: known.get(match[1]) or match[0], value)
    return None if "{{" in text or "{%" in text else text


def _texts(kind: str, value: Json) -> tuple[str, ...] | None:
    """The texts of an assertion that is about texts; null if they are elsewhere."""
    if isinstance(value, str) and kind in _LISTS:
        value = split_list(value)
    values = value if isinstance(value, list) and kind in (*_LISTS, *_RUBRICS) else [value]
    texts = [as_text(text) for text in values if not isinstance(text, list | dict | None)]
    if len(texts) != len(values) or any(text and text.startswith("file://") for text in texts):
        return None
    return tuple(text for text in texts if text)


def split_list(text: str) -> list[Json]:
    """The values of a list in one cell: separated by commas, those with a comma in quotes."""
    values: list[Json] = []
    for match in _FIELD.finditer(text):
        quoted, plain = match[1], (match[2] or "").strip()
        value = re.sub(r'\\(["\\])|""', lambda m: m[1] or '"', quoted) if quoted else plain
        values += [value] if value else []
    return values


def _read_trajectory(kind: str, value: Json) -> tuple[ToolCall, ...] | None:
    if kind == _TOOL_SEQUENCE and isinstance(value, dict):
        value = value.get("steps")
    elif kind not in (_TOOL_USED, _TOOL_ARGS, _TOOL_SEQUENCE):
        return None
    steps: list[Json] = value if isinstance(value, list) else [value]
    # Patterns, counts and ignored arguments are more than the calls that a case expects.
    extra = {"pattern", "max", "ignore", "defaults"}
    if any(isinstance(step, dict) and extra & step.keys() for step in steps):
        return None
    return read_calls(steps)


def parse_expected(cell: str) -> Object:
    """The assertion in a cell: `type: value`, or the text that the output must equal."""
    text = cell.strip()
    legacy, _, rest = text.partition(":")
    if legacy in _LEGACY:
        return {"type": _LEGACY[legacy], "value": rest.strip()}
    match = _EXPECTED.match(text)
    if match is None or match[1] not in _TYPES:
        return {"type": "equals", "value": text}
    kind = match[0].rstrip(":").partition("(")[0]
    value: Json = text[match.end() :].strip() if match[3] else None
    if match[1] in _LISTS and isinstance(value, str):
        value = split_list(value)
    threshold: Object = {"threshold": float(match[2])} if match[2] else {}
    return {"type": kind, "value": value, **threshold}


def write_expected(assertion: Object) -> str | None:
    """The cell of an assertion; null if it has no cell, as calls with arguments have none."""
    kind, value = str(assertion.get("type")), assertion.get("value")
    threshold = assertion.get("threshold")
    kind = kind if threshold is None else f"{kind}({threshold})"
    if value is None:
        return kind
    if isinstance(value, list) and kind.removeprefix(NEGATION) in _LISTS:
        return f"{kind}: {', '.join(map(_quote, value))}"
    return None if isinstance(value, list | dict) else f"{kind}: {as_text(value)}"


def _quote(value: Json) -> str:
    text = as_text(value) or ""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def checks_of(case: Case, turn: Turn) -> Checks:
    """The expectations of a case that assertions can state."""
    calls = all_expected_calls(case) if len(case.turns) < 2 else turn.tool_calls
    return Checks(
        answer=turn.response,
        contains=case.contains or (),
        rubrics=tuple(rubric.text for rubric in case.rubrics),
        calls=tuple(calls or ()),
        others=tuple(cast("list[Object]", stated_assertions(case.reference))),
    )


def write_assertions(checks: Checks) -> list[Json]:
    """The assertions that state these expectations."""
    written: list[tuple[str, Json]] = []
    # A golden answer is a reference, not the only correct text: `similar`, not `equals`.
    equals = [other.get("value") for other in checks.others if other.get("type") == "equals"]
    if checks.answer is not None and checks.answer not in equals:
        written.append(("similar", checks.answer))
    written += [("contains", text) for text in checks.contains]
    written += [("llm-rubric", text) for text in checks.rubrics]
    for call in checks.calls:
        is_named = call.args is None
        value: Json = call.name if is_named else {"name": call.name, "args": call.args}
        written.append((_TOOL_USED if is_named else _TOOL_ARGS, value))
    typed: list[Object] = [{"type": kind, "value": value} for kind, value in written]
    return cast("list[Json]", [*typed, *checks.others])
