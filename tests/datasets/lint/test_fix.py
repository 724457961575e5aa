from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from carob import plugins
from carob.datasets.lint.fix import edit_json, edit_table
from carob.datasets.lint.rules import LintOptions
from carob.datasets.lint.run import lint
from carob.errors import UsageError
from carob.schema import Json, LintedFile

for package in ("stdnum", "phonenumbers", "detect_secrets"):
    pytest.importorskip(package)

PRIVATE = {f"K10{number}" for number in range(1, 8)}
ODD = """{"name" : "n",\t"score": 1.50, "version":"1.0.0",
  "examples": [ {"input":"I am jo@bikemail.net \\u00e4 \\/", "expectedOutput": "Hi",
  "x": [1e3, {"to": "JO@bikemail.net"}, "\\u00e4"]},

  {"input": "Not me", "expectedOutput": "mia@bikemail.net",
   "metadata": {"lint_ignore": ["C101"]}} ]}
"""


def fix(path: Path) -> LintedFile:
    return lint(path, plugins.formats(), fix=True)


def test_document_changes_only_where_it_is_masked(tmp_path: Path):
    path = tmp_path / "odd.json"
    path.write_text(ODD)
    assert fix(path).masked == 2
    masked = ODD.replace("JO@bikemail.net", "<email-1>").replace("jo@bikemail.net", "<email-1>")
    assert path.read_text() == masked.replace("\\u00e4 \\/", "ä /")  # within a changed text


def test_table_changes_only_where_it_is_masked(tmp_path: Path):
    path = tmp_path / "faq.csv"
    rows = '\ufeffInput,ExpectedOutput\r\n"Say ""hi""\r\nto jo@bikemail.net",Yes\r\n\r\n'
    rows += "x,+44 20 7946 0958\r\n"
    path.write_bytes(rows.encode())
    assert fix(path).masked == 2
    masked = rows.replace("jo@bikemail.net", "<email-1>").replace("+44 20 7946 0958", "<phone-1>")
    assert path.read_bytes() == masked.encode()


def test_utf_16_table_stays_utf_16(tmp_path: Path):
    path = tmp_path / "faq.csv"
    rows = "Input,ExpectedOutput\r\nI am jo@bikemail.net ä,Yes\r\n"
    path.write_bytes(b"\xfe\xff" + rows.encode("utf-16-be"))
    assert fix(path).masked == 1
    masked = rows.replace("jo@bikemail.net", "<email-1>")
    assert path.read_bytes() == b"\xfe\xff" + masked.encode("utf-16-be")


def test_compressed_rows_stay_compressed_rows(tmp_path: Path):
    path = tmp_path / "q.jsonl.gz"
    row = {"case_id": "a", "question": "I am jo@bikemail.net", "reference_answer": "Hi"}
    lines = [json.dumps(row), "", json.dumps({**row, "case_id": "b"}), ""]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    lint(path, plugins.formats(), name="explain", fix=True)
    text = gzip.decompress(path.read_bytes()).decode()
    assert text == "\n".join(lines).replace("jo@bikemail.net", "<email-1>")


def test_violations_of_ignored_rules_are_not_masked(tmp_path: Path):
    path = tmp_path / "odd.json"
    path.write_text(ODD)
    chosen = LintOptions(ignore=frozenset({"C101"}))
    assert lint(path, plugins.formats(), settings=chosen, fix=True).masked == 0
    assert path.read_text() == ODD


def test_placeholders_of_an_earlier_masking_are_not_reused(tmp_path: Path):
    path = tmp_path / "a.json"
    example = {"input": "I am <email-1>", "expectedOutput": "I am jo@bikemail.net"}
    path.write_text(json.dumps({"name": "n", "examples": [example]}))
    fix(path)
    assert json.loads(path.read_text())["examples"][0]["expectedOutput"] == "I am <email-2>"


def test_file_with_a_sidecar_file_is_refused(tmp_path: Path):
    path = tmp_path / "faq.csv"
    path.write_text("Input,ExpectedOutput\njo@bikemail.net,Yes\n")
    (tmp_path / "faq.csv.carob.json").write_text("{}")
    with pytest.raises(UsageError, match=r"sidecar file faq\.csv\.carob\.json"):
        fix(path)


PIECES = [
    "jo@bikemail.net",
    "+44 20 7946 0958",
    "4111 1111 1111 1111",
    "536-90-4399",
    '"',
    "\\",
    ",",
]
TEXT = st.lists(st.sampled_from([*PIECES, " ", "MB-20418", "\n"]), min_size=1, max_size=5)
PAIRS = st.lists(st.tuples(TEXT.map("".join), TEXT.map(" ".join)), min_size=1, max_size=3)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pairs=PAIRS)
def test_masked_file_has_nothing_to_mask(tmp_path: Path, pairs: list[tuple[str, str]]):
    path = tmp_path / "a.json"
    examples = [{"input": user, "expectedOutput": answer} for user, answer in pairs]
    path.write_text(json.dumps({"name": "n", "examples": examples}))
    assert {finding.rule for finding in fix(path).findings} & PRIVATE == set()
    once = path.read_bytes()
    assert fix(path).masked == 0
    assert path.read_bytes() == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_every_text_of_a_document_is_offered_with_its_path(document: Json):
    offered: dict[tuple[object, ...], str] = {}

    def change(path: tuple[object, ...], text: str) -> str:
        offered[path] = text
        return text

    data = json.dumps(document, indent=1).encode()
    assert edit_json(data, change) == data
    assert {path: text for path, text in texts(document, ()) if offered.get(path) != text} == {}


def texts(value: Json, path: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], str]]:
    """Texts in lists, whose paths no key shares."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from texts(item, (*path, index))


def test_cells_are_offered_with_line_and_column():
    text = 'a,b\n1,"x\ny"\n2,z\n'
    offered: list[tuple[int, str, str]] = []

    def change(line: int, column: str, cell: str) -> str:
        offered.append((line, column, cell))
        return cell.upper()

    assert edit_table(text, change) == 'a,b\n1,"X\nY"\n2,Z\n'
    assert offered[:4] == [(2, "a", "1"), (2, "b", "x\ny"), (4, "a", "2"), (4, "b", "z")]
