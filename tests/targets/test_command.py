"""Commands as targets: JSON lines on stdin and stdout."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.errors import UsageError
from carob.schema import Case, CaseSession, Dataset, Run, Turn

AGENT = """
import json, sys, time
print("starting", file=sys.stderr)
for line in sys.stdin:
    ask = json.loads(line)
    text = ask["message"]
    if text == "die":
        print("out of memory", file=sys.stderr, flush=True)
        sys.exit(3)
    if text == "garble":
        print("hello from a print", flush=True)
        continue
    if text == "hang":
        continue
    out = {"id": ask["id"], "response": f"{len(ask['history'])} {text}"}
    out["state"] = {**ask["state"], "n": 1}
    if text == "fail":
        out = {"id": ask["id"], "error": "no stock"}
    print(json.dumps(out), flush=True)
"""


def run(folder: Path, *cases: Case, **options: Any) -> Run:
    file = folder / "agent.py"
    file.write_text(AGENT)
    dataset = Dataset(name="shop", cases=[*cases])
    metrics = options.pop("metrics", "exact_match")
    return carob.run(
        golden=dataset, target=f"command:{sys.executable} {file}", metrics=metrics, **options
    )


def case(id: str, *exchanges: tuple[str, str | None], **fields: Any) -> Case:
    turns = tuple(Turn(user=user, response=response) for user, response in exchanges)
    return Case(id=id, turns=turns, **fields)


def reasons(run: Run) -> dict[str | None, str]:
    return {result.case: result.scores[0].reason for result in run.cases}


def test_command_answers_many_conversations_with_history_and_state(tmp_path: Path):
    session = CaseSession(app="shop", user="mara", state={"tier": "gold"})
    cases = [
        case(
            f"c{number}",
            ("hi", "0 hi"),
            ("bye", "2 bye"),
            session=session,
            state={"tier": "gold", "n": 1},
        )
        for number in range(20)
    ]
    scored = run(tmp_path, *cases, metrics=["exact_match", "state_management_fidelity"])
    assert scored.summary.cases.total == 20
    assert {score.value for result in scored.cases for score in result.scores} == {1.0}


def test_error_of_the_command_is_an_error(tmp_path: Path):
    assert reasons(run(tmp_path, case("a", ("fail", None)))) == {"a": "agent: no stock"}


def test_command_that_dies_fails_its_conversations_and_starts_again(tmp_path: Path):
    scored = run(tmp_path, case("a", ("die", None)), case("b", ("hi", "0 hi")), concurrency=1)
    assert reasons(scored)["a"].startswith("agent: the command ended with exit code 3: ")
    assert "out of memory" in reasons(scored)["a"]
    assert scored.cases[1].status == "passed"


def test_line_that_is_not_json_is_an_error(tmp_path: Path):
    scored = run(tmp_path, case("a", ("garble", None)))
    assert "expected a JSON line on stdout, got 'hello from a print'" in reasons(scored)["a"]


def test_command_that_hangs_is_given_up(tmp_path: Path):
    scored = run(tmp_path, case("a", ("hang", None)), case("b", ("hi", "0 hi")), turn_timeout=1.0)
    assert reasons(scored)["a"] == "timeout: a turn took longer than 1 s"
    assert scored.cases[1].status == "passed"


def test_missing_program_is_refused():
    dataset = Dataset(name="shop", cases=[case("a", ("hi", None))])
    with pytest.raises(UsageError, match="no such program"):
        carob.run(golden=dataset, target="command:./nothing --flag", metrics="exact_match")


def test_log_without_line_ends_does_not_block_the_command(tmp_path: Path):
    file = tmp_path / "loud.py"
    file.write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    sys.stderr.write('x' * 5_000_000)\n"
        "    sys.stderr.flush()\n"
        "    print(json.dumps({'id': json.loads(line)['id'], 'response': 'ok'}), flush=True)\n"
    )
    scored = carob.run(
        golden=Dataset(name="d", cases=[case("a", ("hi", "ok"), ("ho", "ok"))]),
        target=f"command:{sys.executable} {file}",
        metrics="exact_match",
        turn_timeout=20,
    )
    assert scored.verdict == "passed"
