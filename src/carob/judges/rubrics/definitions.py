"""Custom judges of metric definition files: a template with placeholders, and the columns that fill
them.

A template is the user's own words, so it is a rubric. What fills a placeholder is anybody's: it is
shown as a part of the material, and the template only says where to look. Nothing is formatted into
the template, and nothing but plain names in braces is a placeholder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import msgspec

from carob.judges.rubrics import columns
from carob.judges.rubrics.builtin import managed, managed_rubric
from carob.judges.rubrics.inputs import Input
from carob.judges.rubrics.judge import Part, RubricJudge, parts_of
from carob.judges.rubrics.kinds import Recipe, judge_class
from carob.judges.rubrics.rubric import Rubric
from carob.judges.rubrics.subject import Subject
from carob.judges.rubrics.templates import Place, pointer, pointing, used
from carob.schema import Json
from carob.text.spelling import did_you_mean

_DEFAULTS = {"prompt": "user_inputs", "response": "final_response"}
"""What fills a placeholder that nobody maps."""
_ROLES = {
    "prompt": "user",
    "developer_instruction": "system_instructions",
    "tool_declarations": "available_tools",
    "intermediate_events": "steps",
    "tool_usage": "steps",
    "conversation_history": "history",
}
"""What the placeholders of managed metrics are called here."""
_SUPERSEDED = (
    "If these words ask for another form of the answer, such as a line with a score, the form that "
    "is described under Answer takes its place."
)


class _Filling(NamedTuple):
    """What stands for a placeholder: words of the user's own, and the parts that they point to."""

    words: str
    parts: tuple[Part, ...]


def definition_class(name: str, definition: Mapping[str, Json]) -> type[RubricJudge]:
    """The metric that a definition describes."""
    place = Place(f"metrics.{name}")
    kind = definition.get("metric_type")
    if kind not in (None, "llm"):
        place.at("metric_type").fail(f"expected 'llm', got {kind!r:.60}")
    made = _managed if definition.get("is_managed") or _no_words(definition) else _templated
    rubric, parts = made(definition, place)
    agents = definition.get("agents")
    prefix = str(definition.get("metric_prefix") or "").strip("_")
    return judge_class(
        msgspec.structs.replace(rubric, name=f"{prefix}_{name}" if prefix else name),
        parts=parts,
        agents=_agents(agents, place.at("agents")),
        recipe=Recipe(definition_class, (name, {**definition})),
    )


def _no_words(definition: Mapping[str, Json]) -> bool:
    return not definition.get("template") and not definition.get("instruction")


def _agents(written: Json, place: Place) -> tuple[str, ...]:
    listed = [written] if isinstance(written, str) else written or []
    if not isinstance(listed, list):
        place.fail(f"expected a list of names, got {written!r:.60}")
    return tuple(str(one) for one in listed)


def _managed(definition: Mapping[str, Json], place: Place) -> tuple[Rubric, tuple[Part, ...]]:
    """A rubric of ours, on the columns that the definition names. A column is one of the whole
    session, so the session is judged as a whole."""
    wanted = definition.get("managed_metric_name")
    if not isinstance(wanted, str) or wanted.upper() not in managed():
        hint = did_you_mean(str(wanted), managed()) or f"known: {', '.join(managed())}"
        place.at("managed_metric_name").fail(f"unknown managed metric {wanted!r:.60}", hint)
    rubric = managed_rubric(wanted.upper())
    scale = _range(definition, place)
    if scale and scale != (rubric.low, rubric.high):
        told = f"{wanted} is on a scale from {rubric.low:g} to {rubric.high:g}"
        place.at("score_range").fail(told, "leave it out, or write a template of your own")
    parts = _filled(rubric, definition, place)
    guidelines = definition.get("natural_language_guidelines")
    question = f"{rubric.question.strip()}\n\n{guidelines}" if guidelines else rubric.question
    about = str(definition.get("description") or rubric.about)
    whole = msgspec.structs.replace(rubric, question=question, about=about, per="conversation")
    return whole, parts


def _filled(rubric: Rubric, definition: Mapping[str, Json], place: Place) -> tuple[Part, ...]:
    """The parts of a managed metric: as the definition fills them, and what else it maps."""
    written = definition.get("dataset_mapping") or {}
    mapped: dict[str, Part] = {}
    for one, filling in _mapping(definition, place).items():
        if len(filling.parts) != 1:
            why = "a managed metric takes one column for each placeholder"
            place.at("dataset_mapping").at(one).fail(why, "write a template of your own")
        mapped[_ROLES.get(one, one)] = filling.parts[0]
    own = parts_of(rubric)
    known = {part.input.name for part in own}
    asked = {_ROLES.get(one, one) for one in written} if isinstance(written, dict) else set[str]()
    more = [part._replace(required=False) for name, part in mapped.items() if name in asked - known]
    return (*(_replaced(part, mapped.get(part.input.name)) for part in own), *more)


def _replaced(part: Part, own: Part | None) -> Part:
    if own is None:
        return part
    known = part.input._replace(read=own.input.read, lacking=own.input.lacking, need=own.input.need)
    return Part(known, required=part.required, default=own.default)


def _templated(definition: Mapping[str, Json], place: Place) -> tuple[Rubric, tuple[Part, ...]]:
    mapping = _mapping(definition, place)
    words, key = _words(definition)
    scale = _range(definition, place) or _rated(definition)
    if scale is None:
        place.fail("'score_range' is missing", 'such as "score_range": {"min": 1, "max": 5}')
    names = used(words, mapping, place.at(key))
    fillings = [mapping[one] for one in names or mapping]
    parts = {part.input.name: part for filling in fillings for part in filling.parts}
    if not parts:
        place.at(key).fail("there is nothing to judge in it", "such as {prompt} and {response}")
    question = pointing(words, {one: mapping[one].words for one in names})
    rubric = Rubric(
        name="",
        title=str(definition.get("description") or "A judge that a definition file describes."),
        question=f"{question}\n\n{_SUPERSEDED}",
        kind="numbers",
        low=scale[0],
        high=scale[1],
        inputs=(*parts,),
        levels=_levels(definition),
        per="conversation",
    )
    return rubric, (*parts.values(),)


def _words(definition: Mapping[str, Json]) -> tuple[str, str]:
    """The template; older files have an instruction and criteria instead."""
    template = definition.get("template")
    if isinstance(template, str) and template.strip():
        return template, "template"
    criteria = definition.get("criteria")
    listed = criteria.items() if isinstance(criteria, dict) else ()
    words = [str(definition["instruction"]), *(f"- {one}: {asked}" for one, asked in listed)]
    return "\n".join(words), "instruction"


def _levels(definition: Mapping[str, Json]) -> dict[str, str]:
    rated = definition.get("rating_scores")
    return (
        {level: str(meaning) for level, meaning in rated.items()} if isinstance(rated, dict) else {}
    )


def _range(definition: Mapping[str, Json], place: Place) -> tuple[float, float] | None:
    written = definition.get("score_range")
    if written is None:
        return None
    ends = [written.get(key) for key in ("min", "max")] if isinstance(written, dict) else []
    numbers = [
        float(end) for end in ends if isinstance(end, int | float) and not isinstance(end, bool)
    ]
    if len(numbers) != 2 or not numbers[0] < numbers[1] <= numbers[0] + 100:
        hint = 'such as {"min": 1, "max": 5}'
        place.at("score_range").fail(
            f"expected a lowest and a highest score, got {written!r:.60}", hint
        )
    return numbers[0], numbers[1]


def _rated(definition: Mapping[str, Json]) -> tuple[float, float] | None:
    """The scale that levels in words imply."""
    levels = [int(one) for one in _levels(definition) if one.isdigit()]
    return (float(min(levels)), float(max(levels))) if len(levels) > 1 else None


def _mapping(definition: Mapping[str, Json], place: Place) -> dict[str, _Filling]:
    written = definition.get("dataset_mapping") or {}
    within = place.at("dataset_mapping")
    if not isinstance(written, dict):
        within.fail(f"expected a table, got {written!r:.60}")
    defaults: dict[str, Json] = {
        one: {"source_column": column} for one, column in _DEFAULTS.items() if one not in written
    }
    both = {**written, **defaults}
    return {one: _filling(one, source, within.at(one)) for one, source in both.items()}


def _filling(name: str, source: Json, place: Place) -> _Filling:
    if not isinstance(source, dict):
        place.fail(f"expected a table, got {source!r:.60}")
    if "source_column" not in source and "template" in source:
        return _compound(source, place)
    part = _part(name, source, place, source.get("source_column"))
    return _Filling(pointer(name), (part,))


def _compound(source: Mapping[str, Json], place: Place) -> _Filling:
    """Several columns in words of the user's own; each is a part of the material."""
    listed = source.get("source_columns")
    if not isinstance(listed, list) or not listed:
        place.fail("'source_columns' is missing", "list the columns that its template names")
    parts = {_named(str(one)): _part(_named(str(one)), source, place, one) for one in listed}
    words = str(source["template"])
    used(words, parts, place.at("template"))
    loose = tuple(part._replace(required=False) for part in parts.values())
    return _Filling(pointing(words, {name: pointer(name) for name in parts}), loose)


def _named(column: str) -> str:
    """In a template of several columns a colon is written as an underscore."""
    return re.sub(r"\W", "_", column)


def _part(name: str, source: Mapping[str, Json], place: Place, column: Json) -> Part:
    if not isinstance(column, str):
        place.fail("'source_column' is missing" if column is None else f"no column: {column!r:.60}")
    wrong = columns.problem(column)
    if wrong:
        place.at("source_column").fail(*wrong)
    transform = source.get("transform")
    if transform is not None and transform not in columns.TRANSFORMS:
        known = columns.TRANSFORMS
        hint = did_you_mean(str(transform), known) or f"known: {', '.join(known)}"
        place.at("transform").fail(f"unknown transform {transform!r:.60}", hint)
    default = source.get("default")
    read = partial(_read, column, None if transform is None else str(transform))
    return Part(
        Input(
            name=name,
            meaning=f"the column {column}",
            lacking=f"{column} is not there",
            read=read,
            need=columns.need(column) if default is None else None,
        ),
        default=columns.text(default),
    )


def _read(column: str, transform: str | None, subject: Subject) -> str | None:
    found = columns.read(column, subject)
    return columns.text(columns.TRANSFORMS[transform](found) if transform else found)
