"""Read rubric files in TOML, or in YAML if PyYAML is installed. Errors name file and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from carob.config.config_file import read_document
from carob.config.table_reader import Table
from carob.errors import FormatError
from carob.judges.rubrics.inputs import INPUTS
from carob.judges.rubrics.judge import MAX_SAMPLES, RubricJudge
from carob.judges.rubrics.judge_class import judge_class
from carob.judges.rubrics.rubric import Combine, JudgedSpan, JudgeRubric, RubricKind
from carob.schema import Rubric as Property
from carob.text.spelling import did_you_mean

W = TypeVar("W", RubricKind, Combine, JudgedSpan)
_KINDS: tuple[RubricKind, ...] = ("yes/no", "properties", "sentences")
_COMBINE: Mapping[RubricKind, tuple[Combine, ...]] = {
    "numbers": ("median", "mean"),
    "yes/no": ("majority", "mean"),
    "properties": ("majority",),
    "sentences": ("majority",),
}
_SPANS: tuple[JudgedSpan, ...] = ("turn", "conversation")
_SCALES = 'write [1, 5] for numbers from 1 to 5, or "yes/no", "properties" or "sentences"'


def rubric_class(path: str | Path, name: str | None = None) -> type[RubricJudge]:
    """Return the metric class of a rubric file. Its name is `name`, the name in the file, or the
    file name."""
    return judge_class(read_rubric(Path(path), name))


def read_rubric(path: Path, name: str | None = None) -> JudgeRubric:
    """Read a rubric file."""
    doc = read_document(path)
    table = Table(doc, doc.value)
    own_name = table.text("name")
    question, title = _require_text(table, "question"), table.text("title")
    kind, low, high = _scale(table)
    rubric = JudgeRubric(
        name=name or own_name or path.stem,
        title=title or question.strip().splitlines()[0],
        question=question,
        kind=kind,
        low=low,
        high=high,
        levels=dict(_levels(table, kind, low, high)),
        properties=tuple(_properties(table)),
        takes=table.text("takes"),
        inputs=_inputs(table, "inputs"),
        optional=_inputs(table, "optional"),
        per=_one_of(table, "per", _SPANS) or "turn",
        threshold=_threshold(table, low, high),
        samples=_samples(table),
        combine=_one_of(table, "combine", _COMBINE[kind]),
        model=_model(table),
        version=table.count("version") or 1,
        about=(table.text("about") or "").strip(),
    )
    table.close()
    _check(table, rubric)
    return rubric


def _require_text(table: Table, name: str) -> str:
    text = table.text(name)
    if text is None:
        raise table.missing(name)
    if not text.strip():
        raise table.error(name, "expected a non-empty text")
    return text


def _scale(table: Table) -> tuple[RubricKind, float, float]:
    scale = table.entries().get("scale")
    if scale is None:
        table.text("scale")
        raise table.missing("scale")
    if isinstance(scale, str):
        kind = _one_of(table, "scale", _KINDS, hint=_SCALES)
        return kind or "yes/no", 0.0, 1.0
    if not isinstance(scale, list):
        raise table.error("scale", f"expected a scale, got {scale!r:.60}", hint=_SCALES)
    ends = table.numbers("scale")
    if len(ends) != 2 or ends[0] >= ends[1]:
        message = f"expected the lowest and the highest score, got {scale!r:.60}"
        raise table.error("scale", message, hint=_SCALES)
    if ends[1] - ends[0] > 100:
        raise table.error("scale", f"the scale from {ends[0]:g} to {ends[1]:g} is wider than 100")
    return "numbers", ends[0], ends[1]


def _levels(table: Table, kind: RubricKind, low: float, high: float) -> Iterator[tuple[str, str]]:
    levels = table.table("levels")
    if levels is None:
        return
    for name in levels.entries():
        yield name, levels.text(name) or ""
        if kind == "yes/no" and name in ("yes", "no"):
            continue
        if kind != "numbers" or not name.lstrip("-").isdigit() or not low <= int(name) <= high:
            scale = f"the scale from {low:g} to {high:g}" if kind == "numbers" else "this scale"
            raise levels.error(name, f"{name!r} is not a level of {scale}")


def _properties(table: Table) -> Iterator[Property]:
    items = table.items("properties")
    if all(isinstance(item, str) for item in items):
        yield from (
            Property(id=str(n), text=text) for n, text in enumerate(table.texts("properties"), 1)
        )
        return
    for number, row in enumerate(table.rows("properties"), 1):
        text, name = row.text("text"), row.text("id")
        row.close()
        if text is None:
            raise row.missing("text")
        yield Property(id=name or str(number), text=text)


def _inputs(table: Table, name: str) -> tuple[str, ...]:
    inputs = table.texts(name)
    for index, item in enumerate(inputs):
        if item not in INPUTS:
            hint = did_you_mean(item, INPUTS) or f"expected one of: {', '.join(INPUTS)}"
            raise table.error(f"{name}[{index}]", f"unknown input {item!r}", hint=hint)
    return inputs


def _threshold(table: Table, low: float, high: float) -> float | None:
    threshold = table.number("threshold")
    if threshold is not None and not low <= threshold <= high:
        message = f"{threshold:g} is not on the scale from {low:g} to {high:g}"
        raise table.error("threshold", message)
    return threshold


def _samples(table: Table) -> int:
    samples = table.count("samples") or 1
    if samples > MAX_SAMPLES:
        raise table.error("samples", f"expected at most {MAX_SAMPLES}, got {samples}")
    return samples


def _model(table: Table) -> str | None:
    model = table.text("model")
    if model is not None and not all(model.partition(":")):
        message = f"{model!r} has no provider"
        raise table.error("model", message, hint="such as 'openai:gpt-5-mini'")
    return model


def _one_of(table: Table, name: str, allowed: tuple[W, ...], hint: str | None = None) -> W | None:
    """Return one of the allowed words; `None` if the key is missing."""
    value = table.text(name)
    if value is None:
        return None
    for word in allowed:
        if word == value:
            return word
    message = f"expected one of: {', '.join(map(repr, allowed))}; got {value!r}"
    raise table.error(name, message, hint=did_you_mean(value, allowed) or hint)


def _check(table: Table, rubric: JudgeRubric) -> None:
    duplicates = {*rubric.inputs} & {*rubric.optional}
    if duplicates:
        raise table.error("optional", f"{min(duplicates)!r} is already in 'inputs'")
    if not rubric.inputs:
        hint = 'such as inputs = ["user", "response"]'
        raise FormatError("missing key 'inputs'", where=table.where(), hint=hint)
    if rubric.kind != "properties" and rubric.properties:
        raise table.error("properties", 'properties require scale = "properties"')
    if rubric.kind == "properties" and not rubric.properties and rubric.takes is None:
        raise table.missing("properties")
    ids = [item.id for item in rubric.properties]
    duplicate = next((name for name in ids if ids.count(name) > 1), None)
    if duplicate:
        raise table.error("properties", f"duplicate id {duplicate!r}")
