"""The steps of action.yml, executed as a GitHub runner does."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from carob.api.history import find_run

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "action.yml").read_text("utf-8")
ACTION: dict[str, Any] = yaml.safe_load(TEXT)
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
DEFAULTS = {name: str(one["default"]) for name, one in ACTION["inputs"].items()}
GH = """#!/bin/sh
echo "$@" >> "$HOME/gh.txt"
case "$*" in *--paginate*) cat "$HOME/ids.txt" ;; esac
"""


class Runner:
    """A directory with the sample data, and the outputs of the steps so far."""

    def __init__(self, folder: Path, *inputs: str) -> None:
        shutil.copytree(ROOT / "src" / "carob" / "demo" / "data", folder / "work")
        self.folder = folder
        values = dict(text.split("=", 1) for text in inputs)
        self.known = {f"inputs.{name}": text for name, text in (DEFAULTS | values).items()}
        self.known |= {
            "github.action_path": str(ROOT),
            "github.token": "not-a-token",
            "github.event.pull_request.number": "7",
        }
        (folder / "bin").mkdir()
        (folder / "ids.txt").touch()
        self.tool("gh", GH)

    def tool(self, name: str, script: str) -> None:
        """Put a program first on the PATH."""
        path = self.folder / "bin" / name
        path.write_text(script)
        path.chmod(0o755)

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        return self.carry_out(STEPS[name])

    def carry_out(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        output = self.folder / "output"
        output.write_text("")
        process = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder / "work" / self._filled(step.get("working-directory", ".")),
            env=self._environment(step.get("env", {})),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        for line in output.read_text().splitlines():
            key, _, value = line.partition("=")
            self.known[f"steps.{step.get('id')}.outputs.{key}"] = value
        return process

    def gated(self) -> str:
        """Return the output `passed` after evaluation and gate."""
        for name in ("Evaluate", "Gate"):
            process = self.step(name)
            assert process.returncode == 0, process.stderr
        return self.known["steps.gate.outputs.passed"]

    def _environment(self, own: Mapping[str, str]) -> dict[str, str]:
        return {
            "PATH": os.pathsep.join(
                [str(self.folder / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
            ),
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_REPOSITORY": "mara/bikes",
            **{name: self._filled(text) for name, text in own.items()},
        }

    def _filled(self, text: str) -> str:
        return re.sub(r"\$\{\{ (.+?) \}\}", lambda match: self.known.get(match[1], ""), text)


def regressed(folder: Path, *inputs: str) -> Runner:
    """Return the inputs for release 1.5.0 of the sample data."""
    usual = ("golden=support.evalset.json", "traces=traces/regressed.*\n", "allow-unscored=true")
    return Runner(folder, *usual, *inputs)


def test_every_input_is_used_and_every_used_input_exists():
    assert set(re.findall(r"inputs\.([\w-]+)", TEXT)) == DEFAULTS.keys()


def test_inputs_are_passed_as_environment_variables():
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert [script for script in scripts if "${{" in script] == []
    assert {step["shell"] for step in STEPS.values() if "run" in step} == {"bash"}


def test_carob_is_installed_from_the_ref_of_the_action(tmp_path: Path):
    runner = Runner(tmp_path, "extras=otlp,metrics")
    runner.tool("python", '#!/bin/sh\necho "$@" > "$HOME/python.txt"\n')
    assert runner.step("Install Carob").returncode == 0
    assert (tmp_path / "python.txt").read_text().split()[-1] == f"{ROOT}[otlp,metrics]"


def test_traces_are_scored_and_reported_in_every_form(tmp_path: Path):
    runner = regressed(tmp_path, "metrics=response_match_score\nlatency")
    process = runner.step("Evaluate")
    assert (process.returncode, process.stdout) == (0, "")
    run = find_run(runner.known["steps.run.outputs.file"])
    assert [metric.name for metric in run.metrics] == ["response_match_score", "latency"]
    folder = Path(runner.known["steps.run.outputs.folder"])
    names = ["report.html", "report.junit", "report.md", "report.sarif", "run.json"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert "support.evalset.json" in (folder / "report.sarif").read_text()


def test_failed_command_stops_the_job_with_the_reason(tmp_path: Path):
    process = regressed(tmp_path, "metrics=response_match").step("Evaluate")
    assert process.returncode == 2
    assert "unknown metric 'response_match'" in process.stderr


@pytest.mark.parametrize("name", ["", "../up", "a b", "-->", ".hidden"])
def test_unsafe_name_is_an_error(tmp_path: Path, name: str):
    assert regressed(tmp_path, f"name={name}").step("Evaluate").returncode == 2
    assert not (tmp_path / "temp").exists()


def test_inputs_cannot_inject_commands(tmp_path: Path):
    evil = '$(touch "$HOME/owned"); `touch owned`"; touch owned; "'
    runner = regressed(
        tmp_path, f"traces=--output=owned\n{evil}", f"golden={evil}", "metrics=$(id)"
    )
    assert runner.step("Evaluate").returncode == 2
    assert list(tmp_path.rglob("owned")) == []


def test_gate_checks_thresholds(tmp_path: Path):
    assert regressed(tmp_path / "a", "min-pass-rate=0.9").gated() == "false"
    assert regressed(tmp_path / "b", "min-pass-rate=0.2").gated() == "true"
    lower = "response_match_score=0.5 tool_trajectory_avg_score=0.5"
    assert regressed(tmp_path / "c", f"thresholds={lower}").gated() == "true"


def test_gate_compares_with_a_baseline(tmp_path: Path):
    good = regressed(tmp_path / "a", "traces=traces/good.otlp.jsonl", "min-pass-rate=0.5")
    assert good.gated() == "true"
    baseline = good.known["steps.run.outputs.file"]
    assert regressed(tmp_path / "b", f"baseline={baseline}", "strict=true").gated() == "false"
    again = regressed(
        tmp_path / "c", f"run={baseline}", "traces=", f"baseline={baseline}", "margin=0.05"
    )
    assert again.gated() == "true"


def test_gate_without_rules_stops_the_job(tmp_path: Path):
    runner = regressed(tmp_path)
    runner.step("Evaluate")
    process = runner.step("Gate")
    assert process.returncode == 2
    assert "the gate has nothing to check" in process.stderr


def test_run_in_which_nothing_was_decided_stops_the_job(tmp_path: Path):
    runner = regressed(tmp_path, "metrics=latency", "min-pass-rate=1")
    assert runner.step("Evaluate").returncode == 0
    process = runner.step("Gate")
    assert process.returncode == 2
    assert "nothing was decided in run-" in process.stderr


def test_job_fails_after_everything_is_reported(tmp_path: Path):
    runner = regressed(tmp_path, "min-pass-rate=0.9")
    runner.gated()
    assert runner.step("Summarize").returncode == 0
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### failed: run-")
    assert "failed repair" in summary
    process = runner.step("Verdict")
    assert (process.returncode, process.stdout[:9]) == (1, "::error::")


def test_good_run_passes(tmp_path: Path):
    runner = regressed(tmp_path, "traces=traces/good.otlp.jsonl", "min-pass-rate=1")
    assert runner.gated() == "true"
    assert runner.step("Verdict").returncode == 0


@pytest.mark.parametrize(
    ("ids", "api_call"),
    [
        ("", "api --method POST repos/mara/bikes/issues/7/comments"),
        ("31\n45\n", "api --method PATCH repos/mara/bikes/issues/comments/31"),
    ],
)
def test_one_comment_is_created_and_then_updated(tmp_path: Path, ids: str, api_call: str):
    runner = regressed(tmp_path, "min-pass-rate=0.9", "comment=true")
    (tmp_path / "ids.txt").write_text(ids)
    runner.gated()
    runner.step("Summarize")
    process = runner.step("Comment")
    assert (process.returncode, process.stderr) == (0, "")
    body = tmp_path / "temp" / "carob" / "carob" / "comment.md"
    assert body.read_text().startswith("<!-- carob: carob -->\n")
    last = (tmp_path / "gh.txt").read_text().splitlines()[-1]
    assert last == f"{api_call} --field body=@{body} --silent"


def test_forbidden_comment_is_a_warning(tmp_path: Path):
    runner = regressed(tmp_path, "min-pass-rate=0.9", "comment=true")
    runner.tool("gh", "#!/bin/sh\nexit 1\n")
    runner.gated()
    runner.step("Summarize")
    process = runner.step("Comment")
    assert (process.returncode, process.stdout[:11]) == (0, "::warning::")


@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_only_the_workflows_own_comment_is_found():
    [query] = re.findall(r"--jq \\\n\s+'(.+)'", STEPS["Comment"]["run"])
    mark = "<!-- carob: carob -->"
    comments = [
        {"id": 1, "user": {"login": "mara"}, "body": mark},
        {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "<!-- carob: other -->"},
        {"id": 3, "user": {"login": "github-actions[bot]"}, "body": f"{mark}\nfailed"},
    ]
    process = subprocess.run(
        ["jq", query],
        input=json.dumps(comments),
        env={"PATH": os.environ["PATH"], "marker": mark},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == "3\n"


def test_every_action_is_pinned_by_commit():
    references = [step["uses"] for step in STEPS.values() if "uses" in step]
    assert references
    assert all(re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", reference) for reference in references)


GUIDE = (ROOT / "docs" / "guides" / "ci.md").read_text("utf-8")


def test_guide_gives_the_action_only_inputs_that_it_has():
    blocks = re.findall(r"- uses: OWNER/carob@.*?\n((?: {8}.*\n)+)", GUIDE)
    inputs = [yaml.safe_load(block)["with"].keys() for block in blocks]
    assert len(inputs) == 2
    assert [names - DEFAULTS.keys() for names in inputs] == [set(), set()]


def test_recipe_for_any_shell_fails_the_build_for_a_regression(tmp_path: Path):
    [script] = re.findall(r"## Any shell\n\n```sh\n(.+?)```", GUIDE, re.DOTALL)
    runner = regressed(tmp_path, "traces=traces/good.otlp.jsonl")
    runner.step("Evaluate")
    work = tmp_path / "work"
    (work / "golden").mkdir()
    shutil.move(work / "support.evalset.json", work / "golden")
    (work / "traces" / "good.otlp.jsonl").unlink()
    shutil.copy(runner.known["steps.run.outputs.file"], tmp_path / "baseline.json")
    strict = script.replace("golden/baseline.json", "../baseline.json --strict")
    assert runner.carry_out({"run": strict}).returncode == 1
    assert (work / "gate.md").read_text().startswith("### failed")
