"""Errors as `application/problem+json` (RFC 9457), with the words of the command line."""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from carob.errors import (
    CarobError,
    EvaluationError,
    InputError,
    NotFoundError,
    OutputError,
    RefusedError,
    StaleError,
    UntrustedError,
    UsageError,
)
from carob.schema import Problem
from carob.schema.base import Struct

_STATUS: dict[type[CarobError], int] = {
    UsageError: 400,
    UntrustedError: 403,
    NotFoundError: 404,
    RefusedError: 409,
    StaleError: 412,
    InputError: 422,
    EvaluationError: 422,
    OutputError: 507,
}


_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS))


class ProblemDetails(Struct, frozen=True, omit_defaults=False):
    """Why a request could not be carried out."""

    title: str
    status: int
    detail: str
    hint: str | None = None
    problems: tuple[Problem, ...] = ()
    """Each problem with its place, if there are several."""
    type: str = "about:blank"


class RequestError(Exception):
    """A request that is refused with a status of its own."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        hint: str | None = None,
        problems: Sequence[Problem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.detail, self.hint = status, detail, hint
        self.problems, self.headers = tuple(problems), dict(headers or {})


def system_error(error: OSError) -> RequestError:
    """Return the refusal for an error of the system: a full disk, or too many open files."""
    reason = error.strerror or type(error).__name__  # without the path, which is nobody's business
    if error.errno in _FULL:
        return RequestError(507, f"cannot be stored: {reason}")
    return RequestError(503, f"cannot be stored now: {reason}", headers={"Retry-After": "5"})


def problem_response(
    error: CarobError | RequestError, *, hide: Callable[[str], str] = str
) -> Response:
    """Return the response for an error. `hide` rewrites its place."""
    if isinstance(error, RequestError):
        status, detail, headers = error.status, error.detail, error.headers
        problems = error.problems
    else:
        status, detail, headers = problem_status(error), error.message, {}
        problems = (_problem_of(error, hide(error.where)),) if error.where else ()
    details = ProblemDetails(
        title=HTTPStatus(status).phrase,
        status=status,
        detail=detail,
        hint=error.hint,
        problems=problems,
    )
    body = msgspec.json.encode(details)
    return Response(body, status, headers, media_type="application/problem+json")


def problem_status(error: CarobError) -> int:
    """Return the HTTP status of an error."""
    kinds = type(error).__mro__
    return next((_STATUS[kind] for kind in kinds if kind in _STATUS), 500)


def _problem_of(error: CarobError, where: str) -> Problem:
    return Problem(where=where, message=error.message, hint=error.hint)
