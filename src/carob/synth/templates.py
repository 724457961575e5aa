"""Cases from templates, and datasets composed of others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from carob.errors import UsageError
from carob.files.ids import make_unique
from carob.schema import Case, Dataset, Rubric, Struct, Turn, content_id
from carob.schema.synth import SOURCE, SYNTHETIC
from carob.synth.relation import Draw

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


class CaseTemplate(Struct, frozen=True):
    """A case with placeholders such as `{city}`, and the rows of values that fill them.

    All placeholders of a case are filled from one row, so that a question, its document and its
    answer belong together.
    """

    user: str
    rows: tuple[dict[str, str], ...]
    response: str | None = None
    """`None` for requests without one right answer, such as adversarial ones; state a rubric."""
    context: str | None = None
    rubric: str | None = None
    tags: tuple[str, ...] = ()
    name: str = "template"

    def fill(self, row: Mapping[str, str], seed: int) -> Case:
        """Return the case of a row. Raises `UsageError` if the row lacks a value."""
        user = self._fill(self.user, row) or ""
        response = self._fill(self.response, row)
        rubric = self._fill(self.rubric, row)
        rubrics = (Rubric(id=self.name, text=rubric),) if rubric else ()
        return Case(
            id=content_id(user),
            turns=(Turn(user=user, response=response, rubrics=rubrics),),
            context=self._fill(self.context, row),
            tags=self.tags,
            metadata={
                SOURCE: SYNTHETIC,
                "generator": f"carob.synth.template.{self.name}@1",
                "seed": str(seed),
                "review_status": "draft",
            },
        )

    def _fill(self, text: str | None, row: Mapping[str, str]) -> str | None:
        if text is None:
            return None
        missing = next((name for name in _PLACEHOLDER.findall(text) if name not in row), None)
        if missing:
            message = f"template {self.name!r}: no value for {{{missing}}}"
            raise UsageError(message, hint=f"the row has: {', '.join(row) or 'nothing'}")
        return _PLACEHOLDER.sub(lambda match: row[match[1]], text)


def fill_templates(
    name: str, templates: Iterable[CaseTemplate], *, size: int | None = None, seed: int = 0
) -> Dataset:
    """Make a dataset of the cases of all templates and rows, or of `size` of them, chosen by the
    seed. No case is repeated."""
    filled = [template.fill(row, seed) for template in templates for row in template.rows]
    cases = merge_datasets(name, [Dataset(name=name, cases=filled)]).cases
    chosen = cases if size is None else _sample(cases, size, Draw(str(seed), name))
    return Dataset(name=name, cases=chosen)


def merge_datasets(name: str, datasets: Iterable[Dataset]) -> Dataset:
    """Join datasets. Of cases with the same messages and context, the first is kept; ids stay
    unique."""
    ids: dict[str, int] = {}
    inputs: set[bytes] = set()
    cases: list[Case] = []
    for case in (case for dataset in datasets for case in dataset):
        content = [case.context, case.scenario, [turn.user for turn in case.turns]]
        key = msgspec.json.encode(content)
        if key not in inputs:
            inputs.add(key)
            unique = make_unique(case.id, ids)
            cases.append(msgspec.structs.replace(case, id=unique, origin=None))
    return Dataset(name=name, cases=cases)


def compose_datasets(
    name: str, parts: Sequence[tuple[Dataset, float]], *, size: int, seed: int = 0
) -> Dataset:
    """Draw `size` cases from datasets in the proportion of their weights, without repeating a case.
    Raises `UsageError` if a dataset has fewer cases than its share."""
    total = sum(weight for _, weight in parts)
    if total <= 0 or any(weight < 0 for _, weight in parts):
        raise UsageError("weights must not be negative, and one must be positive")
    shares = [size * weight / total for _, weight in parts]
    counts = [int(share) for share in shares]
    # The largest remainders get the cases that rounding down leaves over.
    by_remainder = sorted(range(len(parts)), key=lambda at: (counts[at] - shares[at], at))
    for at in by_remainder[: size - sum(counts)]:
        counts[at] += 1
    drawn: list[Dataset] = []
    for (dataset, _), count in zip(parts, counts, strict=True):
        if count > len(dataset):
            message = f"{dataset.name} has {len(dataset)} cases, but its share is {count}"
            raise UsageError(message, hint="lower `size` or its weight")
        cases = _sample(dataset.cases, count, Draw(str(seed), name, dataset.name))
        drawn.append(dataset.with_cases(cases))
    return merge_datasets(name, drawn)


def _sample(cases: Sequence[Case], size: int, draw: Draw) -> list[Case]:
    """The cases in their order, without those that were not drawn."""
    places = sorted(draw.order(range(len(cases)))[:size])
    return [cases[place] for place in places]
