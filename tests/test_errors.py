from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from shutil import copytree

import pytest

from carob import errors
from carob.errors import CarobError

CAROB = Path(sys.executable).with_name("carob")
EXIT_CODES = {
    "CarobError": 2,
    "UsageError": 2,
    "UntrustedError": 2,
    "InputError": 2,
    "NotFoundError": 2,
    "UnknownFormatError": 2,
    "EmptyFileError": 2,
    "FormatError": 2,
    "OutputError": 2,
    "LossError": 1,
    "EvaluationError": 2,
    "RefusedError": 1,
    "StaleError": 1,
    "StoppedError": 2,
}
RUN = ("run", "traces/good.otlp.jsonl", "--golden", "support.evalset.json", "--no-store")


def test_every_error_class_carries_its_exit_code():
    classes = inspect.getmembers(errors, inspect.isclass)
    assert {
        name: error.exit_code for name, error in classes if issubclass(error, CarobError)
    } == EXIT_CODES


def test_tree_in_the_docstring_lists_every_class_with_its_exit_code():
    for name, code in EXIT_CODES.items():
        assert re.search(rf"{name} +{code}\b", errors.__doc__ or ""), name


@pytest.fixture
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def carob(*args: str) -> int:
    process = subprocess.run([CAROB, *args], capture_output=True, timeout=60, check=False)
    return process.returncode


@pytest.mark.usefixtures("_shop")
@pytest.mark.parametrize(
    ("code", "args"),
    [
        (2, ("nonsense",)),
        (2, ("show",)),
        (2, ("show", "missing.json")),
        (2, ("show", "traces/good.otlp.jsonl")),
        (2, ("validate", "missing.json")),
        (2, ("subset", "support.csv", "part.csv", "--tag", "unknown")),
        (2, ("convert", "support.csv", "out.json", "--to", "unknown")),
        (1, ("convert", "support.evalset.json", "out.csv", "--to", "csv", "--strict")),
        (2, ("schema", "unknown")),
        (2, ("diff", "support.csv", "missing.csv")),
        (1, ("release", "support.evalset.json", "--require-approved")),
        (2, ("versions", "--verify")),
        (2, ("checkout", "support@1.0.0")),
        (2, ("review", "support.csv", "--as", "approved")),
        (2, ("traces", "support.csv")),
        (2, ("capture", "missing.json", "out.json", "--to", "adk")),
        (2, ("metrics", "unknown")),
        (2, (*RUN, "-m", "unknown")),
        (2, (*RUN, "--format", "unknown")),
        (1, ("run", "traces/regressed.otlp.jsonl", *RUN[2:])),
        (2, ("policy", "apply", "missing.jsonl")),
        (2, ("report", "latest")),
        (2, ("compare", "missing.json", "missing.json")),
        (2, ("gate", "missing.json")),
        (2, ("calibrate", "missing.csv", "--run", "latest")),
        (2, ("store", "prune")),
        (2, ("demo", "--keep", ".")),
    ],
)
def test_every_command_exits_with_the_code_of_its_error(code: int, args: tuple[str, ...]):
    assert carob(*args) == code


@pytest.mark.usefixtures("_shop")
def test_gate_that_cannot_be_evaluated_does_not_look_like_a_failed_one():
    carob(*RUN, "--format", "json", "-o", "run.json")
    Path("quarantine.toml").write_text(
        '[[quarantine]]\ncase = "repair_brake"\nowner = "ida"\nexpires = "2020-01-01"\n'
        'reason = "the workshop is being moved"\n'
    )
    rules = ("--min-pass-rate", "0.1", "--allow-unscored")
    assert carob("gate", "run.json", *rules) == 0
    assert carob("gate", "run.json", "--min-pass-rate", "1") == 1
    assert carob("gate", "run.json", *rules, "--quarantine", "quarantine.toml") == 2


def test_install_hint_in_a_clone_names_its_own_environment():
    assert errors.install_hint("stats") == ".venv/bin/pip install '.[stats]'"


def test_install_hint_of_an_installed_package_names_the_distribution(tmp_path: Path):
    package = tmp_path / "carob"
    package.mkdir()
    package.joinpath("__init__.py").touch()
    package.joinpath("errors.py").write_text(Path(errors.__file__).read_text("utf-8"), "utf-8")
    program = "from carob.errors import install_hint; print(install_hint('stats'))"
    output = subprocess.check_output([sys.executable, "-c", program], cwd=tmp_path, text=True)
    assert output == "pip install 'carob[stats]'\n"
