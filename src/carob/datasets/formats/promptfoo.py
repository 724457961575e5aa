"""Tests of promptfoo: `vars` and the assertions that a case can express.

A configuration has its tests in a list, with defaults and prompts for all of them; a file of tests
is that list, JSON lines, or a table with columns such as `__expected`. Other assertions, such as
JavaScript, are kept for the round trip and named by `validate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from carob.datasets.document_types import OpenDocument, describe_value
from carob.datasets.formats import Format
from carob.datasets.formats.promptfoo_assertions import (
    Checks,
    checks_of,
    fill_template,
    read_checks,
    write_assertions,
)
from carob.datasets.formats.promptfoo_prompts import (
    TestFrame,
    find_variable,
    render_prompt,
    template_variables,
)
from carob.datasets.formats.promptfoo_table import COLUMNS, EXPECTED, parse_cells, write_cells
from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.formats.row_values import INPUT_NAMES, as_text
from carob.datasets.lens import RESERVED_KEY, Lens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, Problem, Rubric, Turn, content_id
from carob.schema.assertion import ASSERTIONS

_VARIABLE = "prompt"
_VARS = "promptfoo_vars"
"""The metadata key of the variables that are not the user message."""
_GENERATED = {
    "scenarios": "the tests that `scenarios` generate are not read",
    "redteam": "the attacks that `redteam` generates are not read",
}


class PromptfooTest(OpenDocument, rename={"assertions": "assert"}):
    """Variables of the prompt, and assertions about the output."""

    description: str | None = None
    vars: Any = None
    assertions: Any = None
    metadata: dict[str, Any] | None = None
    options: Any = None


class PromptfooConfig(OpenDocument):
    """A configuration with prompts, providers and tests."""

    tests: list[PromptfooTest | str] | str | None = None
    description: str | None = None
    prompts: Any = None
    providers: Any = None


class PromptfooFormat:
    name = "promptfoo"
    recognized_by = (
        "an object with `tests` and `prompts` or `providers`, a list of `vars` and `assert`, or "
        "CSV with `__expected` or another column of promptfoo"
    )
    containers: tuple[Container, ...] = ("document", "list", "rows", "table")
    writable = True
    derives_ids = True
    items_keys: tuple[str, ...] = ("tests",)
    shape: type = PromptfooConfig

    def __init__(self, frame: TestFrame | None = None) -> None:
        self._frame = frame or TestFrame()

    def within(self, frame: Json) -> Format:
        """The format of the tests in a configuration, which states defaults and prompts."""
        return PromptfooFormat(TestFrame(frame if isinstance(frame, dict) else {}))

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict):
            return False
        if any(key.strip().startswith(COLUMNS) for key in sample):
            return True
        if "tests" not in sample:
            return _is_test(sample) or _is_config(sample)
        tests = sample["tests"]
        first = tests[0] if isinstance(tests, list) and tests else None
        is_config = bool({"prompts", "providers", "targets"} & sample.keys())
        return is_config or (isinstance(first, dict) and {"vars", "assert"} <= first.keys())

    def items(self, document: Json) -> list[Json]:
        tests = document.get("tests") if isinstance(document, dict) else None
        if isinstance(tests, list):
            return tests
        if isinstance(tests, str):
            raise _other_file(tests, "$.tests")
        if tests is not None:
            message = f"expected a list of tests, got {describe_value(tests)}"
            raise FormatError(message, where="$.tests")
        raise _no_tests(document if isinstance(document, dict) else {})

    def cases(self, container: Container) -> Lens[Case]:
        if container == "table":
            return Lens(
                key=f"{self.name}.table",
                model=Case,
                read=lambda doc: _read_case(parse_cells(doc), self._frame),
                write=lambda case: write_cells(_write_test(case, self._frame)),
                reserved_path=None,
                derived="id",
            )
        return Lens(
            key=self.name,
            model=Case,
            read=lambda doc: _read_case(doc, self._frame),
            write=lambda case: _write_test(case, self._frame),
            reserved_path=("metadata", RESERVED_KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        if container != "document":
            frame: Object = {"columns": [_VARIABLE, EXPECTED]} if container == "table" else {}
            return unnamed_header(f"{self.name}.{container}", stem, frame)
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda doc: _read_header(doc, stem),
            write=_write_header,
            reserved_path=(RESERVED_KEY,),
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        if isinstance(item, str):
            error = _other_file(item, "$")
            yield Problem(where="$", message=error.message, hint=error.hint)
        if not isinstance(item, dict):
            return
        if _is_config(item):
            error = _no_tests(item)
            yield Problem(where="$", message=error.message, hint=error.hint)
            return
        own = parse_cells(item) if "vars" not in item else item
        test = self._frame.complete(own)
        yield from _check_user(test, self._frame)
        variables = _variables(test)
        shared = read_checks(self._frame.default.get("assert"), variables).unread
        if types := read_checks(test.get("assert"), variables).unread[len(shared) :]:
            yield _not_evaluated("$.assert", types)
        if own.get("threshold") is not None and test.get("assert"):
            yield _threshold_warning("$.threshold")

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        config = TestFrame(frame if isinstance(frame, dict) else {})
        if isinstance(config.config.get("defaultTest"), str):
            message = "'defaultTest' in another file is not read"
            yield Problem(where="$.defaultTest", message=message, severity="warning")
        default = config.default
        if types := read_checks(default.get("assert"), _variables(default)).unread:
            yield _not_evaluated("$.defaultTest.assert", types)
        if default.get("threshold") is not None:
            yield _threshold_warning("$.defaultTest.threshold")
        if len(config.prompts) > 1:
            message = f"{len(config.prompts)} prompts; user messages are those of the first"
            hint = "other prompts with the same tests: read a configuration for each"
            yield Problem(where="$.prompts", message=message, hint=hint, severity="warning")


def _not_evaluated(where: str, types: Sequence[str]) -> Problem:
    names = ", ".join(sorted({repr(name) for name in types}))
    message = f"assertions not evaluated, kept for round-tripping: {names}"
    return Problem(where=where, message=message, severity="warning")


def _threshold_warning(where: str) -> Problem:
    message = "'threshold' of a test is not evaluated: every assertion must hold"
    return Problem(where=where, message=message, severity="warning")


def _is_test(row: Object) -> bool:
    assertions = row.get("assert")
    first = assertions[0] if isinstance(assertions, list) and assertions else None
    is_checked = isinstance(first, dict) and {"type", "$ref", "assert"} & first.keys()
    return isinstance(row.get("vars"), dict) or bool(is_checked)


def _is_config(document: Object) -> bool:
    """Whether a document without tests is a configuration: it looks like a single row."""
    has_target = "providers" in document or "targets" in document
    return has_target and bool({"prompts", "redteam", "scenarios"} & document.keys())


def _no_tests(document: Object) -> FormatError:
    hint = next((text for key, text in _GENERATED.items() if key in document), None)
    return FormatError("no tests in this promptfoo configuration", where="$", hint=hint)


def _other_file(reference: str, where: str) -> FormatError:
    path = reference.removeprefix("file://")
    hint = f"pass {path} itself" if "://" not in path else None
    return FormatError(f"tests in another file are not read: {reference!r}", where=where, hint=hint)


def _check_user(test: Object, frame: TestFrame) -> Iterator[Problem]:
    if _render(test, frame) is not None:
        return
    variables = _variables(test)
    key, user = _read_user(test)
    texts = [name for name, value in variables.items() if isinstance(value, str)]
    if not user:
        hint = f"promptfoo reads it from 'vars', such as '{_VARIABLE}'"
        if isinstance(test.get("vars"), str):
            hint = "variables in another file are not read"
        elif any(isinstance(value, list) for value in variables.values()):
            hint = "promptfoo makes a test of each value in a list: write them as tests"
        yield Problem(where="$", message="missing user message", hint=hint, severity="warning")
    elif key not in (_VARIABLE, *INPUT_NAMES) and len(texts) > 1:
        # The prompt decides, and may combine several; the longest is most likely the message.
        message = f"no variable is called like a user message; read {key!r} as such"
        hint = f"variables: {', '.join(texts[:6])}; name the one that holds it {_VARIABLE!r}"
        yield Problem(where="$.vars", message=message, hint=hint, severity="warning")


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


def _variables(test: Object) -> Object:
    stated = test.get("vars")
    return stated if isinstance(stated, dict) else {}


def _read_user(test: Object) -> tuple[str | None, str | None]:
    """The variable that holds the user message, and the message."""
    variables = _variables(test)
    texts = {name: text for name, text in variables.items() if isinstance(text, str) and text}
    key = next((name for name in (_VARIABLE, *INPUT_NAMES) if name in texts), None)
    if key is None:
        names = [name for name in texts if name != "context"] or list(texts)
        inline = [name for name in names if not texts[name].startswith("file://")] or names
        key = max(inline, key=lambda name: len(texts[name]), default=None)
    filled = fill_template(texts[key], variables) if key else None
    return key, filled if isinstance(filled, str) else texts.get(key or "")


def _render(test: Object, frame: TestFrame) -> str | None:
    template = frame.template_of(test)
    return render_prompt(template, _variables(test)) if template else None


def _read_message(test: Object, frame: TestFrame) -> tuple[str | None, str | None]:
    """The variable that is the user message or all that it needs, and the message."""
    message, template = _render(test, frame), frame.template_of(test)
    if message is None or template is None:
        return _read_user(test)
    names = template_variables(template)
    return (names[0] if len(names) == 1 else None), message  # of a constant prompt: none


def _read_case(doc: Json, frame: TestFrame) -> Case:
    if isinstance(doc, str):
        raise _other_file(doc, "$")
    test = frame.complete(doc if isinstance(doc, dict) else {})
    if _is_config(test):
        raise _no_tests(test)
    variable, user = _read_message(test, frame)
    variables = _variables(test)
    checks = read_checks(test.get("assert"), variables)
    metadata = test.get("metadata")
    rest = {key: value for key, value in variables.items() if key not in (variable, "context")}
    turn = Turn(user=user, response=checks.answer, tool_calls=checks.calls or None)
    rubrics = enumerate(checks.rubrics, 1)
    return Case(
        id=content_id(user or ""),
        turns=(turn,),
        context=as_text(variables.get("context")) if variable != "context" else None,
        contains=checks.contains or None,
        rubrics=tuple(Rubric(id=f"rubric-{n}", text=text) for n, text in rubrics),
        reference={ASSERTIONS: list[Json](checks.others)} if checks.others else {},
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **without_nulls(
                description=as_text(test.get("description")), promptfoo_vars=rest or None
            ),
        },
    )


def _write_test(case: Case, frame: TestFrame) -> Object:
    """The case as a test, without what every test of the configuration has."""
    prompt = case.scenario.prompt if case.scenario else ""
    turn = case.turns[0] if case.turns else Turn(user=prompt)
    shared = _shared_items(frame.default, "metadata")
    metadata = {
        key: value
        for key, value in case.metadata.items()
        if key not in (_VARS, "description") and (key not in shared or shared[key] != value)
    }
    variables = _write_variables(case, turn.user or "", frame)
    assertions = write_assertions(checks_of(case, turn))
    for assertion in _default_assertions(frame, variables):
        if assertion in assertions:
            assertions.remove(assertion)
    shared = _shared_items(frame.default, "vars")
    return without_nulls(
        description=as_text(case.metadata.get("description")),
        vars={k: v for k, v in variables.items() if k not in shared or shared[k] != v},
        **{"assert": assertions or None},
        metadata=metadata or None,
    )


def _shared_items(default: Object, key: str) -> Object:
    value = default.get(key)
    return value if isinstance(value, dict) else {}


def _default_assertions(frame: TestFrame, variables: Object) -> list[Json]:
    checks = read_checks(frame.default.get("assert"), variables)
    return write_assertions(checks) if checks != Checks() else []


def _write_variables(case: Case, user: str, frame: TestFrame) -> Object:
    """The variables with which the prompt of the configuration becomes the user message."""
    others = case.metadata.get(_VARS)
    rest = {
        **without_nulls(context=case.context),
        **(others if isinstance(others, dict) else {}),
    }
    template = frame.template
    if template and render_prompt(template, rest) == user:
        return rest
    name, value = (template and find_variable(template, user)) or (_VARIABLE, user)
    return {name: value, **rest}
