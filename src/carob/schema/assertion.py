"""Assertions: checks of an answer that need no model, as promptfoo names them."""

from __future__ import annotations

from collections.abc import Mapping

from carob.schema.base import Json, Struct

ASSERTIONS = "assertions"
"""The key of a case's reference under which its assertions are listed."""
NEGATION = "not-"
ASSERTION_TYPES = frozenset(
    ("equals", "contains", "icontains", "contains-any", "contains-all", "icontains-any",
    "icontains-all", "starts-with", "regex", "levenshtein", "word-count", "is-json", "latency",
    "trajectory:tool-used")
)  # fmt: skip
"""The types that can be checked; each also with `not-` before it."""


def stated_assertions(reference: Mapping[str, Json]) -> list[Json]:
    """The assertions in the reference of a case. A list of anything else under that key, such as
    sentences for a judge, is none."""
    stated = reference.get(ASSERTIONS)
    items = stated if isinstance(stated, list) else []
    is_typed = all(isinstance(item, dict) and isinstance(item.get("type"), str) for item in items)
    return items if is_typed else []


class Assertion(Struct, frozen=True, forbid_unknown_fields=True):
    """One check of an answer."""

    type: str
    value: Json = None
    threshold: float | None = None

    @property
    def is_negated(self) -> bool:
        """Whether the check must not hold."""
        return self.type.startswith(NEGATION)

    @property
    def base_type(self) -> str:
        """The type without its negation."""
        return self.type.removeprefix(NEGATION)
