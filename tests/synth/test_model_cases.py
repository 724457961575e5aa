"""Cases that a model writes, scripted behind the chat API: requests, documents, the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import carob
from carob.api.synth_model import synth_from_documents, synth_with_model
from carob.cli import carob as command
from carob.errors import CarobError, UsageError
from carob.schema import Case, Dataset, ToolCall, ToolResult, Turn
from carob.synth.documents import MAX_PASSAGE, split_passages
from tests.judges.scripted_server import ReceivedRequest, ScriptedServer
from tests.synth.shop import FERN, SOIL, TOOLS
from tests.synth.test_rewrite import reply

HANDBOOK = """# Opening hours

The shop opens at 9:00 and closes at 18:30. On Sundays it is closed.

# Returns

Plants can be returned within 14 days. Call 0711 555 0199 for large pots.
"""
TRACKED = Case(
    id="tracked",
    turns=(
        Turn(
            user="Track P-fern",
            tool_calls=(ToolCall("track_parcel", {"parcel": "P-fern"}, "c1"),),
            tool_results=(ToolResult("track_parcel", "c1", {"place": "Ulm"}),),
        ),
    ),
)
Script = Callable[[str, str], dict[str, Any]]
"""What the model answers to instructions and a prompt."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    carob.save(Dataset(name="garden", cases=[FERN, TRACKED, SOIL]), "golden.json", format="adk")
    Path("tools.json").write_text(json.dumps(TOOLS))
    Path("handbook").mkdir()
    Path("handbook/hours.md").write_text(HANDBOOK)
    return tmp_path


def serve(script: Script) -> ScriptedServer:
    def answer(request: ReceivedRequest) -> Any:
        system, user = (message["content"] for message in request.json["messages"][:2])
        return reply(**script(system, user))

    return ScriptedServer(answer)


def about_documents(system: str, prompt: str) -> dict[str, Any]:
    if system.startswith("List up to"):
        return {"facts": ["18:30", "14 days", "Mondays", "14 Days.", "0711 555 0199", "8:30"]}
    fact = prompt.partition("<fact>\n")[2].partition("\n</fact>")[0]
    if fact:
        return {"question": {"18:30": "When do you close?"}.get(fact, f"What about {fact}?")}
    if "When do you close?" in prompt:
        return {"answerable": True, "answer": "At 18:30"}
    return {"answerable": False, "answer": ""}


def test_answers_are_copied_first_and_questions_kept_if_the_passage_answers_them(
    monkeypatch: pytest.MonkeyPatch,
):
    with serve(about_documents) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        report = synth_from_documents("handbook", "new.json", model="vllm:writer", per_passage=5)
    (case,) = carob.load("new.json").cases
    (turn,) = case.turns
    assert (turn.user, turn.response) == ("When do you close?", "18:30")
    assert case.context == HANDBOOK.strip()
    # "Mondays" and "8:30" are not in the passage; two facts were given away by their question.
    assert report.skipped == {"the question contains the answer": 2}
    lineage = {key: case.metadata[key] for key in ("source", "relation", "document", "model")}
    assert lineage == {
        "source": "synthetic",
        "relation": "document_question",
        "document": "hours.md",
        "model": "vllm:writer",
    }
    assert case.metadata["review_status"] == "draft"


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ({"answerable": True, "answer": "18:30"}, True),
        ({"answerable": True, "answer": "9:00 to 18:30"}, False),
        ({"answerable": True, "answer": "at nine"}, False),
        ({"answerable": False, "answer": "18:30"}, False),
    ],
)
def test_other_answers_of_the_passage_are_disagreement(
    answer: dict[str, Any], kept: bool, monkeypatch: pytest.MonkeyPatch
):
    def script(system: str, prompt: str) -> dict[str, Any]:
        if system.startswith("Answer the question"):
            return answer
        return {"facts": ["18:30"]} if "List" in system else {"question": "When do you close?"}

    with serve(script) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        if kept:
            synth_from_documents("handbook", "new.json", model="vllm:writer")
        else:
            with pytest.raises(UsageError, match="1 samples disagree"):
                synth_from_documents("handbook", "new.json", model="vllm:writer")
            assert not Path("new.json").exists()


def test_passages_hold_the_whole_document_and_fit():
    text = "\n\n".join(f"{number} " + "word " * 150 for number in range(9)) + "x" * 5000
    passages = [*split_passages("a.md", text)]
    assert all(len(passage.text) <= MAX_PASSAGE + 20 for passage in passages)
    assert "".join("".join(part.text.split()) for part in passages) == "".join(text.split())
    assert [part.number for part in passages] == list(range(1, len(passages) + 1))
    assert [*split_passages("b.md", " \n\n ")] == []


def about_requests(system: str, prompt: str) -> dict[str, Any]:
    content = json.loads(prompt)
    if system.startswith("An AI agent will"):
        values = " and ".join(content["values to state"])
        more = " And where is the parcel?" if len(content["calls"]) > 1 else ""
        return {"message": f"Look up {values}.{more}"}
    steps = content["calls so far"]
    order = {"tool": "find_order", "arguments": '{"order_id": "GS-1041"}'}
    track = {"tool": "track_parcel", "arguments": '{"parcel": "P-fern"}'}
    wanted = [order] if "GS-1041" in content["user"] else [track]
    wanted += [track] if "parcel?" in content["user"] else []
    done = {"tool": "", "arguments": "{}"}
    return [*wanted, done][len(steps)] if len(steps) <= len(wanted) else done


def test_words_are_derived_from_calls_and_verified_by_executing_them(
    monkeypatch: pytest.MonkeyPatch,
):
    with serve(about_requests) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        report = synth_with_model(
            "golden.json", "new.json", model="vllm:writer", styles="request", tools="tools.json"
        )
    cases = carob.load("new.json").cases
    assert [case.turns[0].user for case in cases] == [
        "Look up GS-1041.",
        "Look up GS-1041. And where is the parcel?",
        "Look up P-fern.",
    ]
    chain = cases[1].turns[0]
    assert [call.name for call in chain.tool_calls or ()] == ["find_order", "track_parcel"]
    # The second call has the result that another case records, so that `--mocks golden` works.
    assert chain.tool_results[1].result == {"place": "Ulm"}
    assert report.skipped == {}
    covered = {(row.by, row.value): row.synthetic for row in report.coverage}
    assert covered[("tool", "track_parcel")] == 2


def test_words_that_lead_to_other_calls_are_dropped(monkeypatch: pytest.MonkeyPatch):
    def script(system: str, prompt: str) -> dict[str, Any]:
        answer = about_requests(system, prompt)
        if answer.get("tool") == "track_parcel":
            return {"tool": "track_parcel", "arguments": '{"parcel": "P-other"}'}
        return answer

    with serve(script) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        steps: list[tuple[int, int]] = []
        report = synth_with_model(
            "golden.json",
            "new.json",
            model="vllm:writer",
            styles="request",
            tools="tools.json",
            progress=lambda done, total: steps.append((done, total)),
        )
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert report.cases == 1
    assert report.skipped == {"samples disagree": 2}


def test_values_that_only_a_result_gives_must_not_be_said(monkeypatch: pytest.MonkeyPatch):
    def script(system: str, prompt: str) -> dict[str, Any]:
        if system.startswith("An AI agent will"):
            return {"message": "Look up GS-1041 and P-fern."}
        return about_requests(system, prompt)

    with serve(script) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        report = synth_with_model(
            "golden.json", "new.json", model="vllm:writer", styles="request", tools="tools.json"
        )
    assert report.skipped["a value is given away"] == 1


def invoke(*args: str) -> Result:
    return CliRunner().invoke(command, ["synth", *args])


def paraphrase(system: str, prompt: str) -> dict[str, Any]:
    if system.startswith("Compare"):
        return {"agree": True}
    message = prompt.partition("\n")[2].rpartition("\n")[0]
    return {"message": f"Hello, {message}"}


def test_command_writes_the_same_bytes_again_and_asks_nothing_twice(
    monkeypatch: pytest.MonkeyPatch,
):
    args = ("golden.json", "--model", "vllm:writer", "--store", "runs.db", "--format", "json")
    with serve(paraphrase) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        styles = ("--style", "paraphrase", "--style", "persona: a hurried cook")
        first = invoke(*args[:1], "a.json", *args[1:], *styles)
        asked = len(server.requests)
        second = invoke(*args[:1], "b.json", *args[1:], *styles)
        assert len(server.requests) == asked
        third = invoke(*args[:1], "c.json", *args[1:], *styles, "--quota", "relation:persona=1")
    assert (first.exit_code, second.exit_code, third.exit_code) == (0, 0, 0), first.output
    one, two = Path("a.json").read_bytes(), Path("b.json").read_bytes()
    assert one.replace(b'"a-', b'"b-') == two or one == two
    assert json.loads(first.stdout)["cases"] == 3
    assert json.loads(first.stdout)["skipped"] == {"duplicate": 3}  # both styles wrote the same
    assert json.loads(third.stdout)["cases"] == 3


def test_command_asks_about_documents(monkeypatch: pytest.MonkeyPatch):
    with serve(about_documents) as server:
        url = server.url
        args = ("handbook", "q.json", "--model", "openai:writer", "--model-url", url)
        monkeypatch.setenv("WRITER_KEY", "sk-made-up-0123456789")
        result = invoke(*args, "--model-key-env", "WRITER_KEY", "--questions", "5")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("q.json: 1 synthetic case (examples)\n")
    assert "sk-made-up" not in result.output


@pytest.mark.parametrize(
    "args",
    [
        ("golden.json", "x.json", "--style", "paraphrase"),
        ("golden.json", "x.json", "--questions", "2"),
        ("golden.json", "x.json", "--model", "vllm:w", "--relation", "typos"),
        ("golden.json", "x.json", "--model", "vllm:w", "--style", "shout"),
        ("golden.json", "x.json", "--model", "vllm:w", "--agree", "4"),
        ("golden.json", "x.json", "--model", "nobody"),
        ("missing/", "x.json", "--model", "vllm:w", "--questions", "2"),
    ],
)
def test_wrong_options_are_errors(args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VLLM_BASE_URL", "http://127.0.0.1:9")
    result = invoke(*args)
    assert result.exit_code == 2 or isinstance(result.exception, CarobError)
    assert not Path("x.json").exists()


def test_model_that_does_not_answer_writes_nothing(monkeypatch: pytest.MonkeyPatch):
    with serve(lambda _system, _prompt: {"nonsense": 1}) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        with pytest.raises(UsageError, match="nothing was generated: 3 no answer of the model"):
            synth_with_model("golden.json", "new.json", model="vllm:writer")
