from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import carob as package
from carob.cli import carob

BIN = Path(sys.executable).parent
DATA = Path(package.__file__).parent / "demo" / "data"


def complete(*words: str) -> list[str]:
    """The values that a shell offers for the last word."""
    *args, incomplete = words
    completions = ShellComplete(carob, {}, "carob", "_CAROB_COMPLETE")
    return [item.value for item in completions.get_completions(args, incomplete)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["co"], ["convert", "compare", "completion"]),
        (["run", "--keep"], ["--keep-traces"]),
        (["run", "-m", "rou"], ["rouge_l"]),
        (["run", "x.json", "--threshold", "ble"], ["bleu"]),
        (["metrics", "tool_traj"], ["tool_trajectory_avg_score"]),
        (["metrics", "--needs", "gold"], ["golden"]),
        (["convert", "a", "b", "--to", "ex"], ["examples", "explain"]),
        (["run", "--format", "j"], ["json", "junit"]),
        (["lint", "--use", "re"], ["regression"]),
        (["store", "ex"], ["export"]),
        (["unknown", "--x"], []),
    ],
)
def test_names_are_completed(words: list[str], values: list[str]):
    assert complete(*words) == values


def test_runs_and_datasets_are_completed_from_the_store(folder: Path):
    assert complete("report", "lat") == ["lat"]  # only a file, because there is no store
    assert not (folder / ".carob").exists()
    args = ["run", str(DATA / "traces" / "good.otlp.jsonl"), "-m", "rouge_l", "--store", "own.db"]
    CliRunner().invoke(carob, [*args, "-g", str(DATA / "support.evalset.json")])
    _, alias, run = complete("report", "--store", "own.db", "")
    assert (alias, run[:4]) == ("latest", "run-")
    assert complete("runs", "--store", "own.db", "--dataset", "b") == ["bike_shop_support"]


def test_releases_are_completed_from_the_registry(folder: Path):
    shutil.copy(DATA / "support.examples.json", folder)
    CliRunner().invoke(carob, ["release", "support.examples.json", "--by", "Lena", "--no-lint"])
    (reference,) = complete("checkout", "Bi")[1:]
    assert reference == "Bike shop support@1.0.0"
    assert complete("versions", "Bi") == ["Bike shop support"]


SCRIPT = """
eval "$(carob completion bash)"
compopt() { :; }
COMP_WORDS=(carob run --met); COMP_CWORD=2; COMPREPLY=()
_carob_completion carob
echo "${COMPREPLY[@]}"
COMP_WORDS=(carob run -m rou); COMP_CWORD=3; COMPREPLY=()
_carob_completion carob
echo "${COMPREPLY[@]}"
complete -p carob
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_options_and_metrics():
    environment = {"PATH": f"{BIN}:/usr/bin:/bin"}
    process = subprocess.run(
        ["bash", "--norc", "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert process.stdout.splitlines() == [
        "--metric",
        "rouge_l",
        "complete -o nosort -F _carob_completion carob",
    ]
    assert process.stderr == ""


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts(shell: str):
    script = CliRunner().invoke(carob, ["completion", shell]).stdout
    assert f"_CAROB_COMPLETE={shell}_complete" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_completion_of_options_imports_no_use_case():
    code = (
        "import os, sys; sys.argv = ['carob'];"
        "os.environ.update(_CAROB_COMPLETE='bash_complete', COMP_WORDS='carob run --go',"
        " COMP_CWORD='2')\n"
        "from carob.cli import main\n"
        "try: main()\n"
        "finally: assert not {name for name in sys.modules if name.startswith('carob.api.')}"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout == "plain,--golden\n"
