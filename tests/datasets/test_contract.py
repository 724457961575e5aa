"""The contract of every format. A new format is tested by adding samples to
`tests/samples/<format>/`; no format is named here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from carob import plugins
from carob.datasets.formats import Format
from carob.datasets.read import open_golden, read_dataset
from carob.datasets.schemas import build_schema, encode_schema, schema_path
from carob.datasets.sidecar import sidecar_path
from carob.datasets.source import open_source
from carob.datasets.validate import validate
from carob.datasets.write import (
    PreparedDataset,
    choose_destination,
    prepare_dataset,
    write_dataset,
)
from carob.errors import UnknownFormatError
from carob.schema import Case, Loss, Turn

SAMPLES = Path(__file__).parents[1] / "samples"
FORMATS: dict[str, Format] = {form.name: form for form in plugins.formats()}
ALL = list(FORMATS.values())
WRITABLE = [name for name, form in FORMATS.items() if form.writable]


def samples(names: list[str]) -> list[Path]:
    return [path for name in names for path in sorted((SAMPLES / name).iterdir())]


def sample_id(path: Path) -> str:
    return f"{path.parent.name}-{path.name}"


def content(path: Path) -> Any:
    """A file as JSON text, in which the order of keys counts; a table as its rows."""
    source = open_source(path)
    if source.container == "document":
        return json.dumps(source.document)
    rows = [json.dumps(row.value) for row in source.rows()]
    return [source.columns, *rows] if source.container == "table" else rows


def unpacked(sample: Path) -> bytes:
    data = sample.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def ending(sample: Path) -> str:
    return "".join(sample.suffixes[-2:] if sample.suffix == ".gz" else sample.suffixes[-1:])


def prepare(source: Path, path: Path, name: str) -> PreparedDataset:
    dataset = read_dataset(source, ALL)
    return prepare_dataset(dataset, choose_destination(path, FORMATS[name], dataset), ALL)


def save(source: Path, path: Path, name: str, *, carry: bool = True) -> Sequence[Loss]:
    prepared = prepare(source, path, name)
    write_dataset(prepared, carry=carry)
    return prepared.losses


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_samples(name: str) -> None:
    assert samples([name])


@pytest.mark.parametrize("sample", samples(list(FORMATS)), ids=sample_id)
def test_exactly_one_format_claims_each_sample(sample: Path) -> None:
    claiming: list[str] = []
    for form in ALL:
        with suppress(UnknownFormatError):
            claiming.append(open_golden(sample, [form]).format.name)
    assert claiming == [sample.parent.name]


@pytest.mark.parametrize("sample", samples(list(FORMATS)), ids=sample_id)
def test_every_sample_is_valid_and_matches_the_bundled_schema(sample: Path) -> None:
    result = validate(sample, ALL)
    assert result.valid, result.problems
    schema = json.loads(schema_path(sample.parent.name).read_bytes())
    validator: Any = jsonschema.Draft202012Validator(schema)
    source = open_source(sample)
    rows = source.container != "document" or result.format not in document_formats()
    values = [row.value for row in open_golden(sample, ALL).items()] if rows else [source.document]
    warned = any(problem.severity == "warning" for problem in result.problems)
    for value in values:
        assert warned or validator.is_valid(value), list(validator.iter_errors(value))


def document_formats() -> list[str]:
    return [name for name, form in FORMATS.items() if "document" in form.containers]


@pytest.mark.parametrize("name", FORMATS)
def test_bundled_schemas_are_up_to_date(name: str) -> None:
    hint = "run `python -m carob.datasets.schemas`"
    assert schema_path(name).read_bytes() == encode_schema(build_schema(FORMATS[name])), hint
    jsonschema.Draft202012Validator.check_schema(json.loads(schema_path(name).read_bytes()))


VARIANTS: dict[str, Callable[[bytes], bytes]] = {
    "as it is": lambda data: data,
    "bom": lambda data: b"\xef\xbb\xbf" + data.removeprefix(b"\xef\xbb\xbf"),
    "blank lines": lambda data: data.rstrip() + b"\n\n\n",
    "no last newline": lambda data: data.rstrip(),
    "gzip": gzip.compress,
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("sample", samples(WRITABLE), ids=sample_id)
def test_read_and_write_in_the_same_format_gives_the_same_document(
    sample: Path, variant: str, tmp_path: Path
) -> None:
    source = tmp_path / f"in{ending(sample)}"
    source.write_bytes(VARIANTS[variant](unpacked(sample)))
    copy = tmp_path / f"out{ending(sample)}"
    losses = save(source, copy, sample.parent.name)
    assert content(copy) == content(sample)
    assert losses == ()
    assert not sidecar_path(copy).exists()


@pytest.mark.parametrize("sample", samples(WRITABLE), ids=sample_id)
def test_line_ends_make_no_difference_to_json(sample: Path, tmp_path: Path) -> None:
    if open_source(sample).container == "table":
        return  # there they may be part of a cell
    source = tmp_path / f"in{ending(sample)}"
    source.write_bytes(unpacked(sample).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    copy = tmp_path / f"out{ending(sample)}"
    save(source, copy, sample.parent.name)
    assert content(copy) == content(sample)


PAIRS = [
    pytest.param(sample, other, id=f"{sample_id(sample)}-{other}")
    for sample in samples(WRITABLE)
    for other in WRITABLE
    if other != sample.parent.name
]


@pytest.mark.parametrize(("sample", "other"), PAIRS)
def test_converting_there_and_back_gives_the_same_document(
    sample: Path, other: str, tmp_path: Path
) -> None:
    converted, back = tmp_path / "there", tmp_path / f"back{ending(sample)}"
    prepared = prepare(sample, converted, other)
    if not prepared.cases and (prepared.omitted or FORMATS[other].containers[0] != "document"):
        return  # rows are recognized by the first of them
    write_dataset(prepared)
    assert validate(converted, ALL).format == other
    save(converted, back, sample.parent.name)
    assert content(back) == content(sample)


@pytest.mark.parametrize(("sample", "other"), PAIRS)
def test_without_preserving_the_losses_are_the_difference(
    sample: Path, other: str, tmp_path: Path
) -> None:
    prepared = prepare(sample, converted := tmp_path / "there", other)
    if not prepared.cases:
        return
    write_dataset(prepared, carry=False)
    lost = {loss.case for loss in prepared.losses}
    for before, after in pairs(sample, prepared, converted):
        same = plain(before) == plain(after)
        assert same or before.id in lost, (before, after)
        assert_nothing_invented(before, after)


def pairs(sample: Path, prepared: PreparedDataset, converted: Path) -> Iterator[tuple[Case, Case]]:
    left_out = {loss.case for loss in prepared.omitted}
    written = [case for case in read_dataset(sample, ALL).cases if case.id not in left_out]
    yield from zip(written, read_dataset(converted, ALL).cases, strict=True)


def assert_nothing_invented(before: Case, after: Case) -> None:
    """Every expectation of the converted case is one that the case had."""
    for name in ("trajectory", "state", "agents", "contains", "contract", "goal", "metrics"):
        assert getattr(after, name) in (None, getattr(before, name)), name
    answers = {turn.response for turn in before.turns}
    assert {turn.response for turn in after.turns} <= answers | {None}
    assert expected_calls(after) is None or expected_calls(before) is not None
    assert {rubric.text for rubric in after.rubrics} <= rubric_texts(before)


def expected_calls(case: Case) -> object:
    turns: list[Turn] = [turn for turn in case.turns if turn.tool_calls is not None]
    return case.tool_calls if case.tool_calls is not None else turns or None


def rubric_texts(case: Case) -> set[str]:
    return {rubric.text for part in (case, *case.turns) for rubric in part.rubrics}


@pytest.mark.parametrize(("sample", "other"), PAIRS)
def test_what_we_write_we_accept(sample: Path, other: str, tmp_path: Path) -> None:
    for carry in (True, False):
        prepared = prepare(sample, converted := tmp_path / f"there-{carry}", other)
        if not prepared.cases:
            return
        write_dataset(prepared, carry=carry)
        result = validate(converted, ALL, name=other)
        assert result.valid, result.problems
        assert result.cases == len(prepared.cases)


def plain(case: Any) -> dict[str, Any]:
    fields = {name: getattr(case, name) for name in case.__struct_fields__}
    return {name: value for name, value in fields.items() if name not in ("origin", "id")}


@pytest.mark.parametrize("sample", sorted((SAMPLES / "broken").iterdir()), ids=lambda p: p.name)
def test_every_broken_sample_has_a_problem_with_a_location(sample: Path) -> None:
    result = validate(sample, ALL)
    assert not result.valid
    errors = [problem for problem in result.problems if problem.severity == "error"]
    assert errors
    assert all(problem.where.startswith("line ") for problem in errors)
