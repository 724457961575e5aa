"""Custom judges of metric definition files: a template, and the columns that fill its placeholders.

The template is written by the user, so it is a rubric. The values of placeholders are untrusted:
they become parts of the material, and the template only refers to them. Nothing is formatted into
the template, and only plain names in braces are placeholders.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple, NoReturn

import msgspec

from carob.errors import FormatError
from carob.judges.rubrics import columns
from carob.judges.rubrics.builtin import list_managed_files, read_managed_rubric
from carob.judges.rubrics.inputs import Input
from carob.judges.rubrics.judge import RubricInput, RubricJudge, rubric_inputs
from carob.judges.rubrics.judge_class import Recipe, judge_class
from carob.judges.rubrics.rubric import JudgeRubric
from carob.judges.rubrics.subject import Subject
from carob.schema import Json
from carob.text.spelling import did_you_mean, nearest_name

_DEFAULTS = {"prompt": "user_inputs", "response": "final_response"}
"""The columns of placeholders that the definition does not map."""
_ROLES = {
    "prompt": "user",
    "developer_instruction": "system_instructions",
    "tool_declarations": "available_tools",
    "intermediate_events": "steps",
    "tool_usage": "steps",
    "conversation_history": "history",
}
"""The inputs that the placeholders of managed metrics stand for."""
_SUPERSEDED = (
    "If these words ask for another form of the answer, such as a line with a score, the form that "
    "is described under Answer takes its place."
)


class _Filling(NamedTuple):
    """What replaces a placeholder: a text, and the parts of the material that it refers to."""

    text: str
    parts: tuple[RubricInput, ...]


def definition_class(name: str, definition: Mapping[str, Json]) -> type[RubricJudge]:
    """Return the metric class of a definition. Raises `FormatError`."""
    path = DefinitionPath(f"metrics.{name}")
    kind = definition.get("metric_type")
    if kind not in (None, "llm"):
        path.at("metric_type").fail(f"expected 'llm', got {kind!r:.60}")
    managed = definition.get("is_managed") or _has_no_text(definition)
    rubric, parts = (_build_managed if managed else _build_from_template)(definition, path)
    agents = definition.get("agents")
    prefix = str(definition.get("metric_prefix") or "").strip("_")
    return judge_class(
        msgspec.structs.replace(rubric, name=f"{prefix}_{name}" if prefix else name),
        parts=parts,
        agents=_agents(agents, path.at("agents")),
        recipe=Recipe(definition_class, (name, {**definition})),
    )


def _has_no_text(definition: Mapping[str, Json]) -> bool:
    return not definition.get("template") and not definition.get("instruction")


def _agents(value: Json, path: DefinitionPath) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value or []
    if not isinstance(names, list):
        path.fail(f"expected a list of names, got {value!r:.60}")
    return tuple(str(name) for name in names)


def _build_managed(
    definition: Mapping[str, Json], path: DefinitionPath
) -> tuple[JudgeRubric, tuple[RubricInput, ...]]:
    """Return a built-in rubric on the columns of the definition. A column covers the whole
    session, so the session is judged as a whole."""
    name = definition.get("managed_metric_name")
    if not isinstance(name, str) or name.upper() not in list_managed_files():
        files = list_managed_files()
        hint = did_you_mean(str(name), files) or f"expected one of: {', '.join(files)}"
        path.at("managed_metric_name").fail(f"unknown managed metric {name!r:.60}", hint)
    rubric = read_managed_rubric(name.upper())
    scale = _range(definition, path)
    if scale and scale != (rubric.low, rubric.high):
        message = f"the scale of {name} is {rubric.low:g} to {rubric.high:g}"
        path.at("score_range").fail(message, "remove it, or write your own template")
    parts = _map_managed_inputs(rubric, definition, path)
    guidelines = definition.get("natural_language_guidelines")
    question = f"{rubric.question.strip()}\n\n{guidelines}" if guidelines else rubric.question
    description = str(definition.get("description") or rubric.about)
    whole = msgspec.structs.replace(
        rubric, question=question, about=description, per="conversation"
    )
    return whole, parts


def _map_managed_inputs(
    rubric: JudgeRubric, definition: Mapping[str, Json], path: DefinitionPath
) -> tuple[RubricInput, ...]:
    """Return the inputs of a managed metric, as the definition maps them."""
    # `_mapping` adds defaults, which a managed metric must not get as further inputs: its rubric
    # says what it shows. Only what the definition itself maps is added.
    written = definition.get("dataset_mapping") or {}
    mapped: dict[str, RubricInput] = {}
    for placeholder, filling in _mapping(definition, path).items():
        if len(filling.parts) != 1:
            message = "a managed metric takes one column for each placeholder"
            path.at("dataset_mapping").at(placeholder).fail(message, "write your own template")
        mapped[_ROLES.get(placeholder, placeholder)] = filling.parts[0]
    own = rubric_inputs(rubric)
    own_names = {part.input.name for part in own}
    placeholders = [*written] if isinstance(written, dict) else list[str]()
    requested = {_ROLES.get(placeholder, placeholder) for placeholder in placeholders}
    more = [
        part._replace(required=False)
        for name, part in mapped.items()
        if name in requested - own_names
    ]
    return (*(_with_column(part, mapped.get(part.input.name)) for part in own), *more)


def _with_column(part: RubricInput, own: RubricInput | None) -> RubricInput:
    if own is None:
        return part
    mapped_input = part.input._replace(
        read=own.input.read, missing_reason=own.input.missing_reason, need=own.input.need
    )
    return RubricInput(mapped_input, required=part.required, default=own.default)


def _build_from_template(
    definition: Mapping[str, Json], path: DefinitionPath
) -> tuple[JudgeRubric, tuple[RubricInput, ...]]:
    mapping = _mapping(definition, path)
    template, key = _template_text(definition)
    scale = _range(definition, path) or _infer_range(definition)
    if scale is None:
        path.fail("missing key 'score_range'", 'such as "score_range": {"min": 1, "max": 5}')
    names = find_placeholders(template, mapping, path.at(key))
    fillings = [mapping[name] for name in names or mapping]
    parts = {part.input.name: part for filling in fillings for part in filling.parts}
    if not parts:
        path.at(key).fail("the template has no placeholders", "such as {prompt} and {response}")
    question = replace_placeholders(template, {name: mapping[name].text for name in names})
    rubric = JudgeRubric(
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


def _template_text(definition: Mapping[str, Json]) -> tuple[str, str]:
    """Return the template and its key. Older files have an instruction and criteria instead."""
    template = definition.get("template")
    if isinstance(template, str) and template.strip():
        return template, "template"
    criteria = definition.get("criteria")
    items = criteria.items() if isinstance(criteria, dict) else ()
    lines = [str(definition["instruction"]), *(f"- {name}: {text}" for name, text in items)]
    return "\n".join(lines), "instruction"


def _levels(definition: Mapping[str, Json]) -> dict[str, str]:
    scores = definition.get("rating_scores")
    return (
        {level: str(meaning) for level, meaning in scores.items()}
        if isinstance(scores, dict)
        else {}
    )


def _range(definition: Mapping[str, Json], path: DefinitionPath) -> tuple[float, float] | None:
    written = definition.get("score_range")
    if written is None:
        return None
    ends = [written.get(key) for key in ("min", "max")] if isinstance(written, dict) else []
    numbers = [
        float(end) for end in ends if isinstance(end, int | float) and not isinstance(end, bool)
    ]
    if len(numbers) != 2 or not numbers[0] < numbers[1] <= numbers[0] + 100:
        hint = 'such as {"min": 1, "max": 5}'
        path.at("score_range").fail(
            f"expected a lowest and a highest score, got {written!r:.60}", hint
        )
    return numbers[0], numbers[1]


def _infer_range(definition: Mapping[str, Json]) -> tuple[float, float] | None:
    """Return the scale that `rating_scores` implies."""
    levels = [int(level) for level in _levels(definition) if level.isdigit()]
    return (float(min(levels)), float(max(levels))) if len(levels) > 1 else None


def _mapping(definition: Mapping[str, Json], path: DefinitionPath) -> dict[str, _Filling]:
    written = definition.get("dataset_mapping") or {}
    within = path.at("dataset_mapping")
    if not isinstance(written, dict):
        within.fail(f"expected a table, got {written!r:.60}")
    defaults: dict[str, Json] = {
        name: {"source_column": column} for name, column in _DEFAULTS.items() if name not in written
    }
    both = {**written, **defaults}
    return {name: _filling(name, source, within.at(name)) for name, source in both.items()}


def _filling(name: str, source: Json, path: DefinitionPath) -> _Filling:
    if not isinstance(source, dict):
        path.fail(f"expected a table, got {source!r:.60}")
    if "source_column" not in source and "template" in source:
        return _compound(source, path)
    part = _part(name, source, path, source.get("source_column"))
    return _Filling(point_to(name), (part,))


def _compound(source: Mapping[str, Json], path: DefinitionPath) -> _Filling:
    """Return several columns in a template; each is a part of the material."""
    source_columns = source.get("source_columns")
    if not isinstance(source_columns, list) or not source_columns:
        path.fail("missing key 'source_columns'", "list the columns that the template uses")
    names = [_placeholder_name(str(column)) for column in source_columns]
    parts = {
        name: _part(name, source, path, column)
        for name, column in zip(names, source_columns, strict=True)
    }
    template = str(source["template"])
    find_placeholders(template, parts, path.at("template"))
    optional = tuple(part._replace(required=False) for part in parts.values())
    return _Filling(
        replace_placeholders(template, {name: point_to(name) for name in parts}), optional
    )


def _placeholder_name(column: str) -> str:
    """Replace the colon of a column, which a placeholder cannot contain, by an underscore."""
    return re.sub(r"\W", "_", column)


def _part(name: str, source: Mapping[str, Json], path: DefinitionPath, column: Json) -> RubricInput:
    if not isinstance(column, str):
        path.fail(
            "missing key 'source_column'"
            if column is None
            else f"expected a column, got {column!r:.60}"
        )
    error = columns.check_column(column)
    if error:
        path.at("source_column").fail(*error)
    transform = source.get("transform")
    if transform is not None and transform not in columns.TRANSFORMS:
        transforms = columns.TRANSFORMS
        hint = (
            did_you_mean(str(transform), transforms) or f"expected one of: {', '.join(transforms)}"
        )
        path.at("transform").fail(f"unknown transform {transform!r:.60}", hint)
    default = source.get("default")
    read = partial(_read, column, None if transform is None else str(transform))
    return RubricInput(
        Input(
            name=name,
            meaning=f"the column {column}",
            missing_reason=f"the column {column} is missing",
            read=read,
            need=columns.column_need(column) if default is None else None,
        ),
        default=columns.column_text(default),
    )


def _read(column: str, transform: str | None, subject: Subject) -> str | None:
    value = columns.read_column(column, subject)
    return columns.column_text(columns.TRANSFORMS[transform](value) if transform else value)


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")
_FORMAT_SPEC = re.compile(r"\{([A-Za-z_]\w*)[.!:\[][^{}]*\}")


class DefinitionPath(NamedTuple):
    """The path of a key in a definition, for errors."""

    where: str

    def at(self, key: str) -> DefinitionPath:
        return DefinitionPath(f"{self.where}.{key}")

    def fail(self, message: str, hint: str | None = None) -> NoReturn:
        raise FormatError(message, where=self.where, hint=hint)


def find_placeholders(
    template: str, mapping: Mapping[str, object], path: DefinitionPath
) -> list[str]:
    """Return the placeholders of a template without duplicates. Raises `FormatError` if one is
    unknown."""
    specs = (match for match in _FORMAT_SPEC.finditer(template) if match[1] in mapping)
    if spec := next(specs, None):
        path.fail(f"{spec[0]!r:.60} is not a placeholder", f"write {{{spec[1]}}}")
    names = dict.fromkeys(match[1] for match in _PLACEHOLDER.finditer(template) if match[1])
    for name in names:
        if name not in mapping:
            near = nearest_name(name, mapping)
            hint = f"did you mean {{{near}}}?" if near else f"mapped: {', '.join(mapping)}"
            path.fail(f"unknown placeholder {{{name}}}", hint)
    return [*names]


def replace_placeholders(template: str, texts: Mapping[str, str]) -> str:
    """Replace the placeholders of a template, and unescape double braces."""

    def replacement(match: re.Match[str]) -> str:
        return texts[match[1]] if match[1] else match[0][0]

    return _PLACEHOLDER.sub(replacement, template)


def point_to(name: str) -> str:
    """Return the text that refers to a part of the material."""
    return f"(see the part `{name}` of the material)"
