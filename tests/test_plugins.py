"""Plugins of other packages are used like built-ins, through every command and in workers."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from carob import plugins

ROOT = Path(__file__).parents[1]
PACKAGE = '''
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from carob import Case, Convention, Dataset, Metric, Score, SpanMarks, Trace, Turn, Unscored
from carob import read_only_lens, text_in


@dataclass(frozen=True, kw_only=True)
class Politeness(Metric):
    """Whether the response says please."""

    name: ClassVar[str] = "politeness"
    version: ClassVar[int] = 1
    threshold: ClassVar[float] = 1.0

    def score(self, case, trace):
        response = trace.turns[0].response if trace.turns else None
        return Unscored("no response") if response is None else Score(float("please" in response))


class Question(msgspec.Struct):
    id: str
    ask: str


class QuizFile(msgspec.Struct):
    quiz: list[Question]


class Quiz:
    name = "quiz"
    recognized_by = "an object with `quiz`"
    containers = ("document",)
    writable = False
    derives_ids = False
    items_keys = ("quiz",)
    shape = QuizFile

    def claims(self, sample):
        return isinstance(sample, dict) and "quiz" in sample

    def items(self, document):
        return document["quiz"]

    def cases(self, container):
        def read(doc):
            return Case(id=doc["id"], turns=(Turn(user=doc["ask"]),))

        return read_only_lens(self.name, Case, read)

    def header(self, container, stem):
        return read_only_lens(self.name, Dataset, lambda doc: Dataset(name=stem))

    def check(self, item):
        return iter(())


class Notes:
    """A container of whole traces."""

    name = "notes"

    def claims(self, item):
        return isinstance(item, dict) and "note" in item

    def read(self, item, *, source):
        turn = Turn(user=item["note"], response=item["reply"])
        yield Trace(
            id=item["id"], turns=(turn,), source=source, convention="notes", mapper="notes@1"
        )


class Radio(Convention):
    name = "radio"
    marks = SpanMarks(attributes=("radio.call",))
    inputs = (text_in("radio.call", "user"),)
    outputs = (text_in("radio.answer", "assistant"),)

    def role(self, span):
        return "agent" if "radio.call" in span.attributes else None


def shout(inputs):
    return inputs.run.verdict.upper() + "\\n"
'''
ENTRY_POINTS = """
[carob.metrics]
politeness = acme_carob:Politeness
[carob.formats]
quiz = acme_carob:Quiz
[carob.containers]
notes = acme_carob:Notes
[carob.conventions]
radio = acme_carob:Radio
[carob.report_forms]
shout = acme_carob:shout
"""
QUIZ = {"quiz": [{"id": "a", "ask": "Open the door"}, {"id": "b", "ask": "Over?"}]}
NOTES = [
    {"id": "n1", "note": "Open the door", "reply": "please wait"},
    {"id": "n2", "note": "Over?", "reply": "no"},
]


def _radio_span() -> dict[str, object]:
    attributes = {"radio.call": "Over?", "radio.answer": "please repeat"}
    span = {
        "traceId": "0" * 31 + "1",
        "spanId": "0" * 15 + "1",
        "name": "call",
        "startTimeUnixNano": "1000000000",
        "endTimeUnixNano": "2000000000",
        "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in attributes.items()
        ],
    }
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("acme")
    info = folder / "site" / "acme_carob-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "site" / "acme_carob.py").write_text(PACKAGE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-carob\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (folder / "quiz.json").write_text(json.dumps(QUIZ))
    (folder / "notes.jsonl").write_text("".join(f"{json.dumps(note)}\n" for note in NOTES))
    (folder / "radio.json").write_text(json.dumps(_radio_span()))
    return folder


def carob(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    program = "from carob.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        cwd=folder,
        env={"PYTHONPATH": str(folder / "site"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_metric_is_listed_with_its_description(folder: Path):
    output = carob(folder, "metrics", "politeness")
    assert "Whether the response says please." in output.stdout, output.stderr


def test_format_is_detected_and_validated(folder: Path):
    output = carob(folder, "validate", "quiz.json", "--format", "json")
    assert output.stdout, output.stderr
    (file,) = json.loads(output.stdout)["files"]
    assert (file["format"], file["valid"], file["cases"]) == ("quiz", True, 2)


@pytest.mark.parametrize(
    ("file", "convention", "turn"),
    [
        ("notes.jsonl", "notes", ("Open the door", "please wait")),
        ("radio.json", "radio", ("Over?", "please repeat")),
    ],
)
def test_traces_of_a_container_and_a_convention_are_read(
    folder: Path, file: str, convention: str, turn: tuple[str, str]
):
    output = carob(folder, "traces", file, "--format", "json")
    trace = json.loads(output.stdout)["traces"][0]
    assert trace["convention"] == convention
    assert (trace["turns"][0]["user"], trace["turns"][0]["response"]) == turn
    assert trace["supports"]["politeness"] is None


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_run_uses_all_of_them_also_in_worker_processes(folder: Path, jobs: str):
    output = carob(
        folder,
        *("run", "notes.jsonl", "radio.json", "-g", "quiz.json", "-m", "politeness"),
        *("--jobs", jobs, "--no-store", "--format", "json"),
    )
    run = json.loads(output.stdout)
    assert [(case["case"], case["status"]) for case in run["cases"]] == [
        ("a", "passed"),
        ("b", "passed"),
        ("b", "failed"),
    ]


def test_run_is_printed_in_a_form_of_a_plugin(folder: Path):
    args = ("run", "notes.jsonl", "-g", "quiz.json", "-m", "politeness", "--no-store")
    assert carob(folder, *args, "--format", "shout").stdout == "FAILED\n"


def test_plugin_cannot_take_the_name_of_a_built_in(folder: Path, tmp_path: Path):
    info = tmp_path / "site" / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[carob.metrics]\nlatency = other:Latency\n")
    output = carob(tmp_path, "metrics")
    assert "error: duplicate metric 'latency'" in output.stderr


def test_plugin_that_cannot_be_imported_is_an_error_without_a_traceback(tmp_path: Path):
    info = tmp_path / "site" / "broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[carob.metrics]\nbroken = no_such_module:Metric\n")
    output = carob(tmp_path, "metrics", "broken")
    assert output.returncode == 2
    assert "cannot import the metric 'broken' from no_such_module:Metric" in output.stderr
    assert "Traceback" not in output.stderr


@pytest.mark.parametrize("group", plugins.EXTENSION_POINTS)
def test_every_built_in_can_be_loaded_through_its_door(group: str):
    for name in plugins.EXTENSION_POINTS[group].builtin:
        assert plugins.load_plugin(group, name) is not None


def test_built_ins_are_listed_in_code_only():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert [group for group in project["entry-points"] if group.startswith("carob.")] == []


def test_contributing_names_every_door():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    missing = [group for group in plugins.EXTENSION_POINTS if f"`{group}`" not in text]
    assert missing == []


def test_unknown_name_is_not_loaded():
    with pytest.raises(KeyError):
        plugins.load_plugin("carob.metrics", "no_such_metric")
