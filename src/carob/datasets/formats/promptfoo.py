"""Tests of promptfoo: `vars` and the assertions that a case can express.

Other assertions, such as JavaScript, are kept for the round trip and named by `validate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from carob.datasets.document_types import OpenDocument, describe_value
from carob.datasets.formats.reference_data import all_expected_calls, without_nulls
from carob.datasets.formats.row_values import INPUT_NAMES, as_text, read_calls
from carob.datasets.lens import RESERVED_KEY, Lens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, Problem, Rubric, ToolCall, Turn, content_id

_ANSWERS = ("equals", "similar", "factuality", "model-graded-factuality")
_RUBRICS = ("llm-rubric", "g-eval", "model-graded-closedqa")
_CONTAINS = ("contains", "contains-all")
_CALLS = ("trajectory:tool-used", "trajectory:tool-args-match", "trajectory:tool-sequence")
_VARIABLE = "prompt"
_VARS = "promptfoo_vars"
"""The metadata key of the variables that are not the user message."""


class PromptfooTest(OpenDocument, rename={"assertions": "assert"}):
    """Variables of the prompt, and assertions about the output."""

    description: str | None = None
    vars: dict[str, Any] | None = None
    assertions: list[Any] | None = None
    metadata: dict[str, Any] | None = None
    options: dict[str, Any] | None = None


class PromptfooConfig(OpenDocument):
    """A configuration with prompts, providers and tests."""

    tests: list[PromptfooTest]
    description: str | None = None
    prompts: Any = None
    providers: Any = None


class PromptfooFormat:
    name = "promptfoo"
    recognized_by = (
        "an object with `tests` and `prompts` or `providers`, or a list of `vars` and `assert`"
    )
    containers: tuple[Container, ...] = ("document", "list", "rows")
    writable = True
    derives_ids = True
    items_keys = ("tests",)
    shape: type = PromptfooConfig

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict):
            return False
        tests = sample.get("tests")
        if tests is None:
            return isinstance(sample.get("vars"), dict)
        first = tests[0] if isinstance(tests, list) and tests else None
        is_config = "prompts" in sample or "providers" in sample
        return is_config or (isinstance(first, dict) and {"vars", "assert"} <= first.keys())

    def items(self, document: Json) -> list[Json]:
        tests = document.get("tests") if isinstance(document, dict) else None
        if isinstance(tests, list):
            return tests
        message = f"expected a list of tests, got {describe_value(tests)}"
        hint = "pass the file with the tests instead" if isinstance(tests, str) else None
        raise FormatError(message, where="$.tests", hint=hint)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_case,
            reserved_path=("metadata", RESERVED_KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        if container != "document":
            return unnamed_header(f"{self.name}.{container}", stem)
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda doc: _read_header(doc, stem),
            write=_write_header,
            reserved_path=(RESERVED_KEY,),
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        if not isinstance(item, dict):
            return
        if not _read_user(item)[1]:
            hint = f"promptfoo reads it from 'vars', such as '{_VARIABLE}'"
            yield Problem(where="$", message="missing user message", hint=hint, severity="warning")
        types = [_type(value) for value in _assertions(item) if not _is_read(value)]
        if types:
            names = ", ".join(sorted({repr(name) for name in types}))
            message = f"assertions not evaluated, kept for round-tripping: {names}"
            yield Problem(where="$.assert", message=message, severity="warning")

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        default = frame.get("defaultTest") if isinstance(frame, dict) else None
        if isinstance(default, dict) and default.get("assert"):
            message = "assertions of 'defaultTest' are not evaluated, kept for round-tripping"
            yield Problem(where="$.defaultTest", message=message, severity="warning")


def _read_header(doc: Json, stem: str) -> Dataset:
    text = doc.get("description") if isinstance(doc, dict) else None
    return Dataset(name=stem, description=text if isinstance(text, str) else None)


def _write_header(dataset: Dataset) -> Json:
    return without_nulls(
        description=dataset.description,
        prompts=[f"{{{{{_VARIABLE}}}}}"],
        providers=["echo"],
        tests=[],
    )


def _assertions(test: Object) -> list[Object]:
    values = test.get("assert")
    return [v for v in values if isinstance(v, dict)] if isinstance(values, list) else []


def _type(assertion: Object) -> str:
    return str(assertion.get("type"))


def _is_read(assertion: Object) -> bool:
    kind, value = _type(assertion), assertion.get("value")
    if kind in (*_ANSWERS, *_RUBRICS, "contains"):
        return isinstance(value, str) and not value.startswith("file://")
    if kind == "contains-all":
        return isinstance(value, list) and all(isinstance(text, str) for text in value)
    return kind in _CALLS and _read_trajectory(value) is not None


def _read_trajectory(value: Json) -> tuple[ToolCall, ...] | None:
    if isinstance(value, dict) and isinstance(value.get("steps"), list):
        value = value["steps"]
    return read_calls(value) if isinstance(value, list | dict) else read_calls([value])


def _read_user(test: Object) -> tuple[str | None, str | None]:
    """The variable that holds the user message, and the message."""
    stated = test.get("vars")
    texts = (
        {k: v for k, v in stated.items() if isinstance(v, str)} if isinstance(stated, dict) else {}
    )
    key = next((name for name in (_VARIABLE, *INPUT_NAMES) if name in texts), None)
    key = key or next(iter(texts), None)
    return key, texts[key] if key else None


def _read_case(doc: Json) -> Case:
    test = doc if isinstance(doc, dict) else {}
    variable, user = _read_user(test)
    checks = [value for value in _assertions(test) if _is_read(value)]
    answers = [str(value["value"]) for value in checks if _type(value) in _ANSWERS]
    calls = [c for v in checks if _type(v) in _CALLS for c in _read_trajectory(v["value"]) or ()]
    contains = [text for value in checks if _type(value) in _CONTAINS for text in _texts(value)]
    rubrics = [str(value["value"]) for value in checks if _type(value) in _RUBRICS]
    stated = cast("Object", test.get("vars") or {})
    metadata = test.get("metadata")
    rest = {key: value for key, value in stated.items() if key not in (variable, "context")}
    turn = Turn(
        user=user, response=answers[0] if answers else None, tool_calls=tuple(calls) or None
    )
    return Case(
        id=content_id(user or ""),
        turns=(turn,),
        context=as_text(stated.get("context")),
        contains=tuple(contains) or None,
        rubrics=tuple(Rubric(id=f"rubric-{n}", text=text) for n, text in enumerate(rubrics, 1)),
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **without_nulls(
                description=as_text(test.get("description")), promptfoo_vars=rest or None
            ),
        },
    )


def _texts(assertion: Object) -> list[str]:
    value = assertion["value"]
    return [value] if isinstance(value, str) else cast("list[str]", value)


def _write_case(case: Case) -> Json:
    prompt = case.scenario.prompt if case.scenario else ""
    turn = case.turns[0] if case.turns else Turn(user=prompt)
    metadata = {k: v for k, v in case.metadata.items() if k not in (_VARS, "description")}
    variables = case.metadata.get(_VARS)
    return without_nulls(
        description=as_text(case.metadata.get("description")),
        vars={
            _VARIABLE: turn.user or "",
            **without_nulls(context=case.context),
            **(variables if isinstance(variables, dict) else {}),
        },
        **{"assert": _write_assertions(case, turn) or None},
        metadata=metadata or None,
    )


def _write_assertions(case: Case, turn: Turn) -> list[Json]:
    # A golden answer is a reference, not the only correct text: `similar`, not `equals`.
    checks: list[tuple[str, Json]] = []
    calls = all_expected_calls(case) if len(case.turns) < 2 else turn.tool_calls
    if turn.response is not None:
        checks.append(("similar", turn.response))
    checks += [("contains", text) for text in case.contains or ()]
    checks += [("llm-rubric", rubric.text) for rubric in case.rubrics]
    for call in calls or ():
        is_named = call.args is None
        value: Json = call.name if is_named else {"name": call.name, "args": call.args}
        checks.append((_CALLS[0] if is_named else _CALLS[1], value))
    return [{"type": kind, "value": value} for kind, value in checks]
