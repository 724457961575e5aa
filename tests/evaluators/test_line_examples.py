"""The examples of the line protocol in the guide, in every language that is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from carob.evaluators.foreign import foreign_class
from carob.metrics import evaluate
from carob.schema import Case, EvaluatorSettings, Score, Trace, Turn, Unscored

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "plugins.md").read_text("utf-8")
EXAMPLES = dict(re.findall(r"```\w+ file=(mentions\.\w+)\n(.*?)```", GUIDE, re.DOTALL))
COMMANDS = {
    "mentions.py": (sys.executable,),
    "mentions.js": ("node",),
    "mentions.go": ("go",),
    "mentions.sh": ("sh",),
}


def test_every_example_is_tried():
    assert EXAMPLES.keys() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_example_scores_pairs(name: str, tmp_path: Path):
    command = COMMANDS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    (tmp_path / name).write_text(EXAMPLES[name], "utf-8")
    words = (*command, str(tmp_path / name))
    if name.endswith(".go"):  # compiled before: the first time takes longer than an evaluator may
        subprocess.run(["go", "build", "-o", "mentions", name], cwd=tmp_path, check=True)
        words = (str(tmp_path / "mentions"),)
    settings = EvaluatorSettings(kind="lines", command=words)
    kind: Any = foreign_class(settings)
    metric = kind()
    case = Case.of("Where is it?", "Your order is on its way.", id="where")
    answers = ["Your order left.", "I do not know."]
    traces = [Trace(id="t", turns=(Turn(user="Where is it?", response=text),)) for text in answers]
    assert [evaluate(metric, case, trace) for trace in traces] == [Score(1.0), Score(0.0)]
    silent = Case.of("Where is it?", id="silent")
    assert evaluate(metric, silent, traces[0]) == Unscored("nothing is expected")
    metric.close()
