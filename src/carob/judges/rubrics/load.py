"""Rubric files: TOML, or YAML where that is installed. Whatever is wrong is said with its place,
before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from carob.config import document
from carob.config.table import Table
from carob.errors import FormatError
from carob.judges.rubrics.inputs import INPUTS
from carob.judges.rubrics.judge import MOST, RubricJudge
from carob.judges.rubrics.kinds import judge_class
from carob.judges.rubrics.rubric import Combine, Kind, Rubric, Span
from carob.schema import Rubric as Property
from carob.text.spelling import did_you_mean

W = TypeVar("W", Kind, Combine, Span)
_KINDS: tuple[Kind, ...] = ("yes/no", "properties", "sentences")
_WAYS: Mapping[Kind, tuple[Combine, ...]] = {
    "numbers": ("median", "mean"),
    "yes/no": ("majority", "mean"),
    "properties": ("majority",),
    "sentences": ("majority",),
}
_SPANS: tuple[Span, ...] = ("turn", "conversation")
_SCALES = 'write [1, 5] for numbers from 1 to 5, or "yes/no", "properties" or "sentences"'


def rubric_class(path: str | Path, name: str | None = None) -> type[RubricJudge]:
    """The metric that a rubric file describes. Its name is the one that is given, the one in the
    file, or that of the file."""
    return judge_class(read_rubric(Path(path), name))


def read_rubric(path: Path, name: str | None = None) -> Rubric:
    """The rubric in a file."""
    found = document.read(path)
    table = Table(found, found.value)
    written = table.text("name")
    question, title = _needed(table, "question"), table.text("title")
    kind, low, high = _scale(table)
    made = Rubric(
        name=name or written or path.stem,
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
        combine=_one_of(table, "combine", _WAYS[kind]),
        model=_model(table),
        version=table.count("version") or 1,
        about=(table.text("about") or "").strip(),
    )
    table.close()
    _check(table, made)
    return made


def _needed(table: Table, name: str) -> str:
    found = table.text(name)
    if found is None:
        raise table.missing(name)
    if not found.strip():
        raise table.error(name, "expected a text that says something, got an empty one")
    return found


def _scale(table: Table) -> tuple[Kind, float, float]:
    written = table.entries().get("scale")
    if written is None:
        table.text("scale")
        raise table.missing("scale")
    if isinstance(written, str):
        found = _one_of(table, "scale", _KINDS, hint=_SCALES)
        return found or "yes/no", 0.0, 1.0
    if not isinstance(written, list):
        raise table.error("scale", f"expected a scale, got {written!r:.60}", hint=_SCALES)
    ends = table.numbers("scale")
    if len(ends) != 2 or ends[0] >= ends[1]:
        message = f"expected the lowest and the highest, got {written!r:.60}"
        raise table.error("scale", message, hint=_SCALES)
    if ends[1] - ends[0] > 100:
        raise table.error("scale", f"from {ends[0]:g} to {ends[1]:g} is too fine for a judge")
    return "numbers", ends[0], ends[1]


def _levels(table: Table, kind: Kind, low: float, high: float) -> Iterator[tuple[str, str]]:
    levels = table.table("levels")
    if levels is None:
        return
    for name in levels.entries():
        yield name, levels.text(name) or ""
        if kind == "yes/no" and name in ("yes", "no"):
            continue
        if kind != "numbers" or not name.lstrip("-").isdigit() or not low <= int(name) <= high:
            on = f"the scale from {low:g} to {high:g}" if kind == "numbers" else "this scale"
            raise levels.error(name, f"{name!r} is no level of {on}")


def _properties(table: Table) -> Iterator[Property]:
    items = table.items("properties")
    if all(isinstance(one, str) for one in items):
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
    found = table.texts(name)
    for place, one in enumerate(found):
        if one not in INPUTS:
            hint = did_you_mean(one, INPUTS) or f"known: {', '.join(INPUTS)}"
            raise table.error(f"{name}[{place}]", f"unknown input {one!r}", hint=hint)
    return found


def _threshold(table: Table, low: float, high: float) -> float | None:
    found = table.number("threshold")
    if found is not None and not low <= found <= high:
        message = f"{found:g} is not on the scale from {low:g} to {high:g}"
        raise table.error("threshold", message)
    return found


def _samples(table: Table) -> int:
    found = table.count("samples") or 1
    if found > MOST:
        raise table.error("samples", f"expected at most {MOST}, got {found}")
    return found


def _model(table: Table) -> str | None:
    found = table.text("model")
    if found is not None and not all(found.partition(":")):
        message = f"{found!r} has no provider"
        raise table.error("model", message, hint="such as 'openai:gpt-5-mini'")
    return found


def _one_of(table: Table, name: str, allowed: tuple[W, ...], hint: str | None = None) -> W | None:
    """One of the words that are allowed; `None` if nothing is said."""
    found = table.text(name)
    if found is None:
        return None
    for word in allowed:
        if word == found:
            return word
    message = f"{found!r} is none of {', '.join(map(repr, allowed))}"
    raise table.error(name, message, hint=did_you_mean(found, allowed) or hint)


def _check(table: Table, rubric: Rubric) -> None:
    twice = {*rubric.inputs} & {*rubric.optional}
    if twice:
        raise table.error("optional", f"{min(twice)!r} is an input already")
    if not rubric.inputs:
        hint = 'such as inputs = ["user", "response"]'
        raise FormatError("'inputs' is missing", where=table.where(), hint=hint)
    if rubric.kind != "properties" and rubric.properties:
        raise table.error("properties", 'only a rubric with scale = "properties" has properties')
    if rubric.kind == "properties" and not rubric.properties and rubric.takes is None:
        raise table.missing("properties")
    ids = [one.id for one in rubric.properties]
    repeated = next((one for one in ids if ids.count(one) > 1), None)
    if repeated:
        raise table.error("properties", f"two properties have the id {repeated!r}")
