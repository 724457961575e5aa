from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import time
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
    _, alias, newest, run = complete("report", "--store", "own.db", "")
    assert (alias, newest, run[:4]) == ("latest", "latest:bike_shop_support", "run-")
    assert complete("runs", "--store", "own.db", "--dataset", "b") == ["bike_shop_support"]


def test_releases_are_completed_from_the_registry(folder: Path):
    shutil.copy(DATA / "support.examples.json", folder)
    CliRunner().invoke(carob, ["release", "support.examples.json", "--by", "Lena", "--no-lint"])
    (reference,) = complete("checkout", "Bi")[1:]
    assert reference == "bike-shop-support@1.0.0"
    assert complete("versions", "Bi") == ["bike-shop-support"]


RC = """
PS1="> "
bind "set bell-style none"
eval "$(carob completion bash)"
echo ready
"""


class Bash:
    """An interactive bash, in which keys are typed."""

    def __init__(self, folder: Path) -> None:
        (folder / "rc").write_text(RC)
        self._terminal, other = os.openpty()
        environment = {"PATH": f"{BIN}:/usr/bin:/bin", "TERM": "dumb", "COLUMNS": "200"}
        if "PYTHONPATH" in os.environ:
            environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
        self._process = subprocess.Popen(
            ["bash", "--noprofile", "--rcfile", "rc", "-i"],
            cwd=folder,
            env=environment,
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.wait_for("ready")

    def type(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def wait_for(self, text: str) -> None:
        """Read until a text is shown; the test fails if it is not."""
        shown = ""
        end = time.monotonic() + 30
        while text not in shown:
            ready, _, _ = select.select([self._terminal], [], [], end - time.monotonic())
            assert ready, f"{text!r} is not in {shown!r}"
            shown += os.read(self._terminal, 4096).decode()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_what_is_typed(folder: Path):
    shutil.copy(DATA / "support.examples.json", folder)
    invoke = CliRunner().invoke
    invoke(carob, ["release", "support.examples.json", "--by", "Lena", "--no-lint"])
    invoke(carob, ["run", "-g", str(DATA / "support.explain.jsonl"), "-m", "rouge_l"])
    bash = Bash(folder)
    try:
        for typed, completed in {
            "carob run --met": "carob run --metric ",
            "carob run -m rou": "carob run -m rouge_l ",
            "carob convert a b --to=ques": "carob convert a b --to=questions ",
            "carob checkout bike-shop-support@1": "carob checkout bike-shop-support@1.0.0 ",
            "carob report latest:sup": "carob report latest:support.explain ",
            "carob validate support.ex": "carob validate support.examples.json ",
        }.items():
            bash.type(f"{typed}\t")
            bash.wait_for(completed)
            bash.type("\x15")  # removes the line
    finally:
        bash.close()


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_scripts(shell: str):
    script = CliRunner().invoke(carob, ["completion", shell]).stdout
    assert f"_CAROB_COMPLETE={shell}_complete" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_completion_of_options_imports_no_use_case():
    code = (
        "import os, sys; sys.argv = ['carob'];"
        "os.environ.update(_CAROB_COMPLETE='bash_complete', COMP_LINE='carob run --go')\n"
        "from carob.cli import main\n"
        "try: main()\n"
        "finally: assert not {name for name in sys.modules if name.startswith('carob.api.')}"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout == "plain,--golden\n"


def test_script_of_click_completes_words(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("_CAROB_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "carob compl")
    monkeypatch.setenv("COMP_CWORD", "1")
    monkeypatch.delenv("COMP_LINE", raising=False)
    done = subprocess.run([BIN / "carob"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("plain,completion\n", "")
