"""Tests of promptfoo: `vars` and the assertions that a case can express.

A configuration has its tests in a list; a file of tests is that list, JSON lines, or a table with
columns such as `__expected`. Other assertions, such as JavaScript, are kept for the round trip and
named by `validate`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from carob.datasets.document_types import OpenDocument, describe_value
from carob.datasets.formats.promptfoo_assertions import (
    fill_template,
    parse_expected,
    read_checks,
    write_assertions,
    write_expected,
)
from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.formats.row_values import INPUT_NAMES, as_text
from carob.datasets.lens import RESERVED_KEY, Lens, unnamed_header
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, Problem, Rubric, Turn, content_id

_VARIABLE = "prompt"
_VARS = "promptfoo_vars"
"""The metadata key of the variables that are not the user message."""
_EXPECTED, _DESCRIPTION, _METADATA = "__expected", "__description", "__metadata:"
_COLUMNS = (_EXPECTED, _DESCRIPTION, _METADATA, "__prefix", "__suffix", "__metric", "__threshold",
    "__config:", "__providerOutput")  # fmt: skip
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
    items_keys = ("tests",)
    shape: type = PromptfooConfig

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict):
            return False
        if any(key.strip().startswith(_COLUMNS) for key in sample):
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
                read=lambda doc: _read_case(_parse_cells(doc)),
                write=lambda case: _write_cells(_write_test(case)),
                reserved_path=None,
                derived="id",
            )
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_test,
            reserved_path=("metadata", RESERVED_KEY),
            derived="id",
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        if container != "document":
            frame: Object = {"columns": [_VARIABLE, _EXPECTED]} if container == "table" else {}
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
        test = _parse_cells(item) if "vars" not in item else item
        yield from _check_user(test)
        if types := read_checks(test.get("assert"), _variables(test)).unread:
            names = ", ".join(sorted({repr(name) for name in types}))
            message = f"assertions not evaluated, kept for round-tripping: {names}"
            yield Problem(where="$.assert", message=message, severity="warning")

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        default = frame.get("defaultTest") if isinstance(frame, dict) else None
        if isinstance(default, dict) and default.get("assert"):
            message = "assertions of 'defaultTest' are not evaluated, kept for round-tripping"
            yield Problem(where="$.defaultTest", message=message, severity="warning")


def _is_test(row: Object) -> bool:
    assertions = row.get("assert")
    return isinstance(row.get("vars"), dict) or (
        isinstance(row.get("vars"), str) and isinstance(assertions, list)
    )


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


def _check_user(test: Object) -> Iterator[Problem]:
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


def _read_case(doc: Json) -> Case:
    if isinstance(doc, str):
        raise _other_file(doc, "$")
    test = doc if isinstance(doc, dict) else {}
    if _is_config(test):
        raise _no_tests(test)
    variable, user = _read_user(test)
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
        metadata={
            **(metadata if isinstance(metadata, dict) else {}),
            **without_nulls(
                description=as_text(test.get("description")), promptfoo_vars=rest or None
            ),
        },
    )


def _write_test(case: Case) -> Object:
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
        **{"assert": write_assertions(case, turn) or None},
        metadata=metadata or None,
    )


def _parse_cells(doc: Json) -> Object:
    """A row of a table as a test."""
    cells = {key.strip(): cell for key, cell in doc.items()} if isinstance(doc, dict) else {}
    expected = [cells[key] for key in cells if key.startswith(_EXPECTED)]
    assertions: list[Json] = [parse_expected(cell) for cell in expected if isinstance(cell, str)]
    metadata: Object = {
        key.removeprefix(_METADATA): cell
        for key, cell in cells.items()
        if key.startswith(_METADATA)
    }
    return without_nulls(
        description=cells.get(_DESCRIPTION),
        vars={key: cell for key, cell in cells.items() if not key.startswith(_COLUMNS)},
        **{"assert": assertions},
        metadata=metadata or None,
    )


def _write_cells(test: Object) -> Json:
    variables = {name: as_text(value) for name, value in _variables(test).items()}
    assertions = test.get("assert")
    values = assertions if isinstance(assertions, list) else []
    cells = [write_expected(value) for value in values if isinstance(value, dict)]
    texts = list(filter(None, cells))
    metadata = test.get("metadata")
    pairs: Mapping[str, Json] = metadata if isinstance(metadata, dict) else {}
    row: dict[str, str | None] = {
        **variables,
        _DESCRIPTION: as_text(test.get("description")),
        **{f"{_METADATA}{key}": as_text(value) for key, value in pairs.items()},
        **{f"{_EXPECTED}{n if n > 1 else ''}": text for n, text in enumerate(texts, 1)},
    }
    return {name: cell.replace("\0", "") for name, cell in row.items() if cell}
