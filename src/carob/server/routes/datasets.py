"""Uploaded golden data: validate, summarise, lint, convert, diff. Nothing is kept."""

from __future__ import annotations

from carob.api import datasets as datasets_api
from carob.api import lint as lint_api
from carob.errors import CarobError
from carob.schema import DatasetSummary, LintedFile, Problem, Validation
from carob.schema.base import Struct
from carob.server.binding import Endpoints, Query
from carob.server.uploads import Upload

endpoints = Endpoints()


class EvalSetCheck(Struct, frozen=True, omit_defaults=False, rename="camel"):
    """The validation of an eval set, in the shape that agentevals' clients expect."""

    valid: bool
    eval_set_id: str | None
    num_cases: int
    errors: tuple[str, ...]
    format: str | None
    problems: tuple[Problem, ...]


class EvalSetAnswer(Struct, frozen=True, omit_defaults=False):
    """The envelope that agentevals' clients expect."""

    data: EvalSetCheck
    error: str | None = None


class ValidationList(Struct, frozen=True, omit_defaults=False):
    """The validation of files."""

    files: tuple[Validation, ...]


class LintList(Struct, frozen=True, omit_defaults=False):
    """The findings in files."""

    files: tuple[LintedFile, ...]


class FormatQuery(Query, frozen=True):
    """How to read an uploaded file."""

    format: str | None = None
    """The golden format; recognized by the content if left out."""


@endpoints.post("/api/validate/eval-set", role="read")
def validate_eval_set(upload: Upload) -> EvalSetAnswer:
    """Validate golden data of any format, with the route and the answer of agentevals."""
    (checked,) = datasets_api.validate(upload.path)
    errors = tuple(problem.message for problem in checked.problems if problem.severity == "error")
    return EvalSetAnswer(
        EvalSetCheck(
            valid=checked.valid,
            eval_set_id=_dataset_name(upload) if checked.valid else None,
            num_cases=checked.cases,
            errors=errors,
            format=checked.format,
            problems=checked.problems,
        )
    )


def _dataset_name(upload: Upload) -> str | None:
    try:
        return datasets_api.summarise(upload.path).name
    except CarobError:
        return None


@endpoints.post("/api/validate", role="read")
def validate(upload: Upload, query: FormatQuery) -> ValidationList:
    """Validate golden data, as `carob validate` does."""
    return ValidationList(datasets_api.validate(upload.path, from_=query.format))


@endpoints.post("/api/show", role="read")
def show(upload: Upload, query: FormatQuery) -> DatasetSummary:
    """Summarise golden data, as `carob show` does."""
    return datasets_api.summarise(upload.path, from_=query.format)


@endpoints.post("/api/lint", role="read")
def lint(upload: Upload, query: FormatQuery) -> LintList:
    """Check golden data for PII, secrets, duplicates and more, as `carob lint` does."""
    return LintList(lint_api.lint(upload.path, from_=query.format))
