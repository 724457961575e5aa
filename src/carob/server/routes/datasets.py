"""Uploaded golden data: validate, summarise, lint, convert, diff. Nothing is kept."""

from __future__ import annotations

from typing import Literal

from starlette.responses import Response

from carob.api import datasets as datasets_api
from carob.api import lint as lint_api
from carob.api import versions as versions_api
from carob.api.golden.drafts import load_draft
from carob.api.golden.folder import SUFFIXES
from carob.errors import CarobError
from carob.report.versions import diff_document
from carob.schema import DatasetSummary, LintedFile, Problem, Validation
from carob.schema.base import Json, Struct
from carob.server.binding import Endpoints, Query, to_download, to_response
from carob.server.problems import RequestError
from carob.server.uploads import Upload
from carob.server.workspace import Workspace

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


class ConvertQuery(Query, frozen=True):
    """What to convert to."""

    to: str
    """The golden format of the result."""
    format: str | None = None
    """The golden format of the file; recognized by the content if left out."""
    drop: bool = False
    """Drop fields without an equivalent instead of preserving them."""
    output: Literal["report", "file"] = "report"
    """What to return: what had no equivalent, or the converted file."""


class DiffQuery(Query, frozen=True):
    """What to compare an uploaded file with, unless the form has a field `base`."""

    base: str | None = None
    """A dataset of this server, or a release of it such as `support@1.2.0`."""


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


@endpoints.post("/api/convert", role="read")
def convert(upload: Upload, query: ConvertQuery) -> Response:
    """Convert golden data, as `carob convert` does."""
    target = upload.path.parent / "converted" / _name_converted_file(upload, query.to)
    target.parent.mkdir()
    conversion = datasets_api.convert(
        upload.path, target, to=query.to, from_=query.format, drop=query.drop
    )
    if query.output == "file":
        return to_download(target.read_bytes(), target.name)
    return to_response(conversion)


def _name_converted_file(upload: Upload, format: str) -> str:
    known = {entry.name: entry for entry in datasets_api.list_formats()}
    container = known[format].containers[0] if format in known else "document"
    return f"{upload.name.partition('.')[0]}{SUFFIXES[container]}"


@endpoints.post("/api/diff", role="read")
def diff(workspace: Workspace, upload: Upload, query: DiffQuery) -> Json:
    """Compare an uploaded file with another one, or with a dataset, as `carob diff` does."""
    if (upload.base is None) == (query.base is None):
        hint = "a second file in the field `base`, or a dataset as parameter `base`"
        raise RequestError(400, "expected one thing to compare with", hint=hint)
    base = load_draft(workspace.folder, query.base) if query.base else upload.base
    changes = versions_api.diff(base or upload.path, upload.path)
    return diff_document(changes)  # pyright: ignore[reportReturnType] - JSON


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
