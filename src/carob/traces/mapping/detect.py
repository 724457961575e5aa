"""Find the convention of a span, by the marks that conventions state."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cache

import msgspec

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.registry import builtin_conventions, extra_conventions
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole

_MAX_SHAPES = 1024
_MAX_SHAPE_KEYS = 256


class Detector:
    """Recognizes the spans of some conventions; earlier conventions come first."""

    def __init__(self, conventions: Iterable[Convention]) -> None:
        self._by_own_scope: dict[str, Convention] = {}
        self._by_attribute: dict[str, Convention] = {}
        self._by_scope: dict[str, Convention] = {}
        self._by_system: dict[str, Convention] = {}
        self._by_operation_attribute: dict[str, Convention] = {}
        self._by_late_attribute: dict[str, Convention] = {}
        self._by_last_scope: dict[str, Convention] = {}
        self._by_last_attribute: dict[str, Convention] = {}
        self._by_last_system: dict[str, Convention] = {}
        self._by_last_name: dict[str, Convention] = {}
        self._generic: Convention | None = None
        self._conventions: list[tuple[Convention, frozenset[str]]] = []
        """Every convention with the attributes that mark its spans."""
        self._yielding: set[Convention] = set()
        for convention in conventions:
            self._add(convention)
        self._last_names = tuple(self._by_last_name)
        self._guesses = {name: _as_guess(guess) for name, guess in self._by_last_name.items()}
        # Recorders write spans of a few shapes over and over. The cache holds, for each scope,
        # system, operation and set of attributes, the convention narrowed to those attributes, and
        # the role if all such spans have the same. It is bounded, because attributes with ids in
        # their names would give every span a shape of its own.
        self._shapes: dict[tuple[Json, ...], tuple[Convention | None, SpanRole | None]] = {}

    def _add(self, convention: Convention) -> None:
        # Marks are not inherited: `Strands` is a `GenAi`, and must not claim its spans.
        marks = vars(type(convention)).get("marks", SpanMarks())
        for table, keys in (
            (self._by_own_scope, marks.own_scopes),
            (self._by_attribute, marks.attributes),
            (self._by_scope, marks.scopes),
            (self._by_system, marks.systems),
            (self._by_operation_attribute, marks.operation_attributes),
            (self._by_late_attribute, marks.late_attributes),
            (self._by_last_scope, marks.last_scopes),
            (self._by_last_attribute, marks.last_attributes),
            (self._by_last_system, marks.last_systems),
            (self._by_last_name, marks.last_names),
        ):
            for key in keys:
                table.setdefault(key, convention)
        attributes = (
            *marks.attributes,
            *marks.operation_attributes,
            *marks.late_attributes,
            *marks.last_attributes,
        )
        self._conventions.append((convention, frozenset(attributes)))
        if marks.yields_to_scope:
            self._yielding.add(convention)
        if type(convention) is GenAi:
            self._generic = convention

    def identify(
        self, span: Span, *, is_flat: bool = False
    ) -> tuple[Span, Convention, SpanRole] | None:
        """Return the convention and the role of a span, and the span as the convention expects it.

        Returns `None` for spans that are not part of an agent's work.
        """
        # The names of the attributes are not sorted: a recorder writes them in the same order each
        # time.
        attributes = span.attributes
        shape = (
            span.scope,
            attributes.get("gen_ai.provider.name"),
            attributes.get("gen_ai.system"),
            attributes.get("gen_ai.operation.name"),
            *attributes,
        )
        try:
            convention, role = self._shapes[shape]
        except (KeyError, TypeError):  # a list or an object as system or operation has no hash
            convention, role = self._learn(span, shape)
        if convention is None:
            flat = None if is_flat else _flatten(span)
            identified = self.identify(flat, is_flat=True) if flat is not None else None
            return identified or self._identify_by_name(span)
        role = role or convention.role(span)
        return None if role is None else (span, convention, role)

    def _identify_by_name(self, span: Span) -> tuple[Span, Convention, SpanRole] | None:
        prefix = self._last_name(span.name)
        convention = self._guesses[prefix] if prefix else None
        role = convention.role(span) if convention is not None else None
        return None if convention is None or role is None else (span, convention, role)

    def _last_name(self, name: str) -> str:
        if not name.startswith(self._last_names):
            return ""
        return next(prefix for prefix in self._last_names if name.startswith(prefix))

    def _learn(
        self, span: Span, shape: tuple[Json, ...]
    ) -> tuple[Convention | None, SpanRole | None]:
        convention = self._convention_of(span)
        if convention is not None:
            convention = convention.narrow(
                span.attributes, self._other_conventions(span, convention)
            )
        learned = convention, convention.common_role(span) if convention is not None else None
        if len(self._shapes) < _MAX_SHAPES and len(shape) <= _MAX_SHAPE_KEYS and _has_hash(shape):
            self._shapes[shape] = learned
        return learned

    def _other_conventions(self, span: Span, convention: Convention) -> list[Convention]:
        """The other conventions that mark a span: two recorders may share it, or a backend may
        have added its own attributes. OTel's own come last, because everybody writes some."""
        attributes = span.attributes.keys()
        others = [
            other
            for other, marks in self._conventions
            if other is not convention and other is not self._generic and attributes & marks
        ]
        if self._generic is not None and self._generic is not convention:
            others.append(self._generic)
        return others

    def _convention_of(self, span: Span) -> Convention | None:
        attributes = span.attributes
        if not attributes:
            return self._last_convention(span)
        if (own := self._by_own_scope.get(span.scope)) is not None:
            return own
        lacks = attributes.keys().isdisjoint
        if not lacks(self._by_attribute):
            return _first_marked(span, self._by_attribute)
        if "gen_ai.operation.name" in attributes:
            return self._by_scope.get(span.scope) or self._operation_convention(span)
        if not lacks(self._by_late_attribute):
            convention = _first_marked(span, self._by_late_attribute)
            if convention in self._yielding:
                return self._by_scope.get(span.scope, convention)
            return convention
        return self._last_convention(span)

    def _operation_convention(self, span: Span) -> Convention | None:
        attributes = span.attributes
        system = attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system")
        convention = self._by_system.get(system) if isinstance(system, str) else None
        return convention or _first_marked(span, self._by_operation_attribute) or self._generic

    def _last_convention(self, span: Span) -> Convention | None:
        """The convention of a span without an attribute that identifies it."""
        convention = self._by_scope.get(span.scope) or self._by_scope_pattern(span.scope)
        if convention is None:
            convention = _first_marked(span, self._by_last_attribute)
        if convention is None and isinstance(system := span.attributes.get("gen_ai.system"), str):
            convention = self._by_last_system.get(system)
        return convention

    def _by_scope_pattern(self, scope: str) -> Convention | None:
        for pattern, convention in self._by_last_scope.items():
            prefix = pattern.removesuffix("*")
            if scope == pattern or (prefix != pattern and scope.startswith(prefix)):
                return convention
        return None


@cache
def builtin_detector() -> Detector:
    """Return the detector of the conventions that come with Carob."""
    return Detector(builtin_conventions())


def detector_with_extras() -> Detector | None:
    """Return a detector that also knows the conventions of other packages, if there are any."""
    extra = extra_conventions()
    return _build_detector(extra) if extra else None


@cache
def _build_detector(extra: tuple[Convention, ...]) -> Detector:
    return Detector((*builtin_conventions(), *extra))


def _first_marked(span: Span, marks: dict[str, Convention]) -> Convention | None:
    for key, convention in marks.items():
        if key in span.attributes:
            return convention
    return None


def _as_guess(convention: Convention) -> Convention:
    guess = copy(convention)
    guess.is_guess = True
    return guess


def _has_hash(shape: tuple[Json, ...]) -> bool:
    return not any(isinstance(part, dict | list) for part in shape)


_NESTED_KEYS = (
    "openinference",
    "llm",
    "gen_ai",
    "agentops",
    "traceloop",
    "ai",
    "gcp",
    "langsmith",
)
_MAX_DEPTH = 12
_MAX_ATTRIBUTES = 20_000
"""Dotted names that are made for one span."""


def _flatten(span: Span) -> Span | None:
    """Return a span with dotted attribute names, if a store keeps them as nested objects."""
    attributes = span.attributes
    for key in _NESTED_KEYS:
        if isinstance(attributes.get(key), dict):
            return msgspec.structs.replace(span, attributes=_dot_names(attributes))
    return None


def _dot_names(attributes: dict[str, Json]) -> dict[str, Json]:
    """Inner objects keep their own name too: an object may be a value as well as a path."""
    flat: dict[str, Json] = {}
    queue: list[tuple[str, Json, int]] = [(key, value, 0) for key, value in attributes.items()]
    for key, value, depth in queue:
        if len(flat) >= _MAX_ATTRIBUTES:
            break
        flat.setdefault(key, value)
        if depth >= _MAX_DEPTH:
            continue
        if isinstance(value, dict):
            queue.extend((f"{key}.{name}", inner, depth + 1) for name, inner in value.items())
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            queue.extend((f"{key}.{i}", inner, depth + 1) for i, inner in enumerate(value))
    return flat
