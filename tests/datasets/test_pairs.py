"""Round trips between every two formats, with generated files."""

from __future__ import annotations

import csv
import io
import json
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from carob import plugins
from carob.datasets.formats import Format
from carob.datasets.read import read_dataset
from carob.datasets.source import open_source
from carob.datasets.write import choose_destination, prepare_dataset, write_dataset

FORMATS: dict[str, Format] = {form.name: form for form in plugins.formats()}
ALL = list(FORMATS.values())
WRITABLE = [name for name, form in FORMATS.items() if form.writable]

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["Hi", "a;b", 'say "no"', "two\nlines", "crlf\r\n", "1", "1.0", "null", "[]", '{"a": 1}', "📦"]
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(texts.filter(lambda key: key != "carob"), inner, max_size=2)


values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | objects(inner), max_leaves=4
)


def record(
    needed: dict[str, Any], optional: dict[str, Any], *, extensible: bool = True
) -> st.SearchStrategy[dict[str, Any]]:
    """An object with its keys in any order, and with unknown keys if they are allowed."""
    strange = st.dictionaries(st.sampled_from(["x_owner", "x note", "ünknown"]), values, max_size=2)
    table = st.fixed_dictionaries(needed, optional=optional)
    mixed = st.tuples(table, strange if extensible else st.just({}))
    return mixed.map(lambda pair: pair[0] | pair[1]).flatmap(
        lambda document: st.permutations(list(document.items())).map(dict)
    )


def or_null(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


some_objects = objects(values)
names = st.lists(texts, max_size=3)
numbers = st.floats(0, 2e9, allow_nan=False) | st.integers(0, 2_000_000_000)


def unique(cases: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(cases, min_size=1, max_size=3, unique_by=lambda case: case[key])


part = record({}, {"text": or_null(texts), "thought": or_null(st.booleans())}, extensible=False)
content = record({}, {"parts": or_null(st.lists(part, max_size=3)), "role": or_null(texts)},
    extensible=False)  # fmt: skip
call = record({}, {"id": or_null(texts), "name": or_null(texts), "args": or_null(some_objects)},
    extensible=False)  # fmt: skip
result = record({}, {"id": texts, "name": texts, "response": some_objects}, extensible=False)
way = record(
    {},
    {
        "tool_uses": st.lists(call, max_size=2),
        "toolResponses": st.lists(result, max_size=2),
        "intermediate_responses": st.lists(st.tuples(texts, st.lists(part, max_size=2)).map(list),
            max_size=2),
    },
    extensible=False,
) | record(
    {"invocation_events": st.lists(record({"author": texts}, {"content": or_null(content)}),
        max_size=2)},
    {},
    extensible=False,
)  # fmt: skip
turn = st.one_of(*[
    record(
        {user: content},
        {"invocationId": texts, "final_response": or_null(content),
         "intermediate_data": or_null(way),
         "creation_timestamp": numbers},
        extensible=False,
    )
    for user in ("user_content", "userContent")
])  # fmt: skip
session = record({"app_name": texts, "user_id": texts}, {"state": some_objects})
eval_case = record(
    {"eval_id": texts, "conversation": st.lists(turn, max_size=3)},
    {"session_input": or_null(session), "final_session_state": or_null(some_objects),
     "creation_timestamp": numbers, "rubrics": st.none()},
)  # fmt: skip
eval_set = record(
    {"eval_set_id": texts, "eval_cases": unique(eval_case, "eval_id")},
    {"name": or_null(texts), "description": or_null(texts), "creation_timestamp": numbers},
)

interaction = record({"tool_name": texts}, {"input_arguments": or_null(some_objects)})
reference = record(
    {},
    {"reference_tool_interactions": or_null(st.lists(interaction, max_size=2)),
     "reference_trajectory": or_null(names), "reference_state_variables": or_null(some_objects),
     "expected_response": values, "expected_response_contains": values},
)  # fmt: skip
metadata = or_null(objects(values) | st.fixed_dictionaries({"tags": names | values}))
question = record(
    {"id": texts, "user_inputs": names, "agents_evaluated": names, "reference_data": reference},
    {"metadata": metadata, "updated_datetime": or_null(texts)},
)
questions = st.one_of(
    *[record({key: unique(question, "id")}, {}) for key in ("golden_questions", "questions")]
)

# An empty input or answer is an error in these formats, and no case of theirs is written with one.
filled = texts.filter(lambda text: bool(text.replace("\0", "").strip()))
example = record(
    {"input": filled, "expectedOutput": filled},
    {"context": or_null(texts), "tags": or_null(names), "metadata": or_null(some_objects)},
)
examples = record(
    {"name": texts, "examples": st.lists(example, max_size=3)},
    {"version": or_null(texts), "createdAt": or_null(texts), "tags": or_null(names)},
)

explain_call = record({"tool": texts}, {"arguments": values, "outcome": texts})
explain_row = record(
    {"case_id": texts, "question": texts},
    {"scenario_id": texts, "agent_name": texts, "phase": texts, "context": or_null(texts),
     "model_answer": or_null(texts), "reference_answer": texts, "task_goal": texts,
     "available_tools": names, "expected_tool_calls": st.lists(explain_call, max_size=2),
     "invoked_tool_calls": st.lists(explain_call, max_size=2), "required_evals": names,
     "explain_inputs": objects(some_objects), "expected_contract": texts},
)  # fmt: skip

csv_columns = ["Input", "ExpectedOutput", "Context", "Tags", "Owner"]
simulation_columns = ["user_inputs", "final_response", "trace_summary", "extracted_data", "eval_id"]
cells = texts.map(lambda text: text.replace("\0", ""))
full_cells = filled.map(lambda text: text.replace("\0", ""))
sim_inputs = names.map(json.dumps)
sim_data = record({}, {"state_variables": some_objects}).map(json.dumps)


def table(columns: list[str], row: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    def text(rows: list[tuple[str, ...]]) -> bytes:
        file = io.StringIO(newline="")
        csv.writer(file).writerows([columns, *rows])
        return file.getvalue().encode()

    return st.lists(row, min_size=1, max_size=3).map(text)


def encoded(documents: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    return documents.map(lambda document: json.dumps(document).encode())


FILES: dict[str, tuple[str, st.SearchStrategy[bytes]]] = {
    "adk": ("a.json", encoded(eval_set)),
    "questions": ("a.json", encoded(questions)),
    "examples": ("a.json", encoded(examples.filter(lambda document: bool(document["examples"])))),
    "explain": (
        "a.jsonl",
        unique(explain_row, "case_id").map(
            lambda rows: "\n".join(json.dumps(row) for row in rows).encode()
        ),
    ),
    "csv": ("a.csv", table(csv_columns, st.tuples(full_cells, full_cells, *[cells] * 3))),
    "simulation": (
        "a.csv",
        table(simulation_columns, st.tuples(sim_inputs, cells, cells, sim_data, cells)),
    ),
}


def file_content(path: Path) -> Any:
    source = open_source(path)
    if source.container == "document":
        return json.dumps(source.document)
    return [source.columns, *(json.dumps(row.value) for row in source.rows())]


def save(source: Path, path: Path, name: str) -> bool:
    """Write the dataset; false if the format can hold none of its cases."""
    dataset = read_dataset(source, ALL)
    destination = choose_destination(path, FORMATS[name], dataset)
    prepared = prepare_dataset(dataset, destination, ALL)
    if prepared.omitted and not prepared.cases:
        return False
    write_dataset(prepared)
    return True


def repeats_ids(path: Path) -> bool:
    ids = [case.id for case in read_dataset(path, ALL).cases]
    return len(set(ids)) < len(ids)


PAIRS = [
    *((name, other, 15) for name, other in permutations(FILES, 2)),
    *((name, other, 4) for name in FILES for other in WRITABLE if other not in FILES),
]


@pytest.mark.parametrize(("name", "other", "count"), PAIRS)
def test_converting_there_and_back_gives_the_same_file(name: str, other: str, count: int) -> None:
    file, contents = FILES[name]

    @settings(max_examples=count, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(contents)
    def check(data: bytes) -> None:
        with TemporaryDirectory() as folder:
            source, converted, back = (
                Path(folder, file),
                Path(folder, "there"),
                Path(folder, "b" + file),
            )
            source.write_bytes(data)
            # Where ids are derived, those of equal cases are numbered, and stay so on the way back.
            assume(not (FORMATS[other].derives_ids and repeats_ids(source)))
            if not save(source, converted, other):
                return
            save(converted, back, name)
            assert file_content(back) == file_content(source)

    check()
