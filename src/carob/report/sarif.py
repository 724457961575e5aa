"""SARIF 2.1.0, the form in which code hosts show findings at their lines in a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from carob import __version__
from carob.schema import Severity

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)


class SarifRule(NamedTuple):
    """What results are about."""

    id: str
    name: str
    level: Severity
    summary: str


class SarifResult(NamedTuple):
    """Something at a line of a file."""

    rule: str
    level: Severity
    message: str
    path: str
    line: int | None
    key: str
    """What the result is about, so that it is known again when lines have moved."""


def sarif(rules: Iterable[SarifRule], results: Iterable[SarifResult]) -> str:
    """One run of Carob as a SARIF log."""
    listed = [*rules]
    indices = {rule.id: index for index, rule in enumerate(listed)}
    driver = {"name": "Carob", "version": __version__, "rules": [_rule(rule) for rule in listed]}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "results": [_result(result, indices[result.rule]) for result in results],
            }
        ],
    }
    return msgspec.json.format(msgspec.json.encode(log), indent=2).decode() + "\n"


def _rule(rule: SarifRule) -> dict[str, object]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "defaultConfiguration": {"level": rule.level},
    }


def _result(result: SarifResult, index: int) -> dict[str, object]:
    place: dict[str, object] = {
        "artifactLocation": {"uri": _uri(result.path)},
        "region": {"startLine": result.line or 1},
    }
    about = "\0".join((result.rule, result.path, result.key))
    mark = blake2b(about.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return {
        "ruleId": result.rule,
        "ruleIndex": index,
        "level": result.level,
        "message": {"text": result.message},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"carob/v1": mark},
    }


def _uri(path: str) -> str:
    """Code hosts want paths from the root of the repository, where the command is usually run."""
    whole, here = Path(path).absolute(), Path.cwd()
    if whole.is_relative_to(here):
        return quote(whole.relative_to(here).as_posix())
    return whole.as_uri()
