from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from carob.cli import carob as commands
from carob.errors import StoppedError

CAROB = Path(sys.executable).with_name("carob")


def carob(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([CAROB, *args], capture_output=True, text=True, timeout=60, check=False)


def test_help_imports_nothing_heavy():
    code = """
import sys
from carob.cli import carob
try:
    carob(["--help"])
except SystemExit:
    pass
heavy = {"msgspec", "rich", "carob.api", "carob.schema", "importlib.metadata", "asyncio"}
print(sorted(heavy & set(sys.modules)))
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert process.stdout.splitlines()[-1] == "[]"


def test_error_goes_to_stderr_with_its_hint_and_exit_code_2(tmp_path: Path):
    file = tmp_path / "notes.txt"
    file.write_text("Dear diary\n")
    process = carob("show", str(file))
    assert process.returncode == 2
    assert process.stdout == ""
    assert process.stderr.startswith(
        f"error: {file}: no golden format matches this CSV file\n\nhint: "
    )
    assert "use one of: azure, braintrust, csv," in process.stderr


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("run", "--dataset", "x"), "unknown option --dataset\n\nhint: did you mean --golden?"),
        (("run", "--goldn", "x"), "unknown option --goldn\n\nhint: did you mean --golden?"),
        (
            ("show", "--where", "x"),
            "unknown option --where\n\nhint: run `carob show --help` for usage",
        ),
        (
            ("synth", "golden.json"),
            "missing argument 'DST'\n\nhint: run `carob synth --help` for usage",
        ),
        (
            ("traces",),
            "missing argument 'FILES...'\n\nhint: run `carob traces --help` for usage",
        ),
        (("convert", "a", "b", "--to"), "option '--to' requires an argument"),
    ],
)
def test_usage_errors_have_the_format_of_all_errors(args: tuple[str, ...], error: str):
    process = carob(*args)
    assert (process.returncode, process.stdout, process.stderr) == (2, "", f"error: {error}\n")


def test_without_a_command_the_commands_are_listed():
    process = carob()
    assert process.returncode == 2
    assert "Commands:" in process.stderr


def test_version_is_printed():
    assert carob("--version").stdout == "carob, version 0.1.0\n"


@pytest.mark.parametrize(
    ("variables", "colored"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        ({"TERM": "xterm", "NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_terminals_have_colors_unless_the_environment_disables_them(
    variables: dict[str, str], colored: bool, monkeypatch: pytest.MonkeyPatch
):
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    leader, follower = os.openpty()
    environment = {**os.environ, **variables}
    subprocess.run([CAROB, "show", "missing"], stderr=follower, check=False, env=environment)
    os.close(follower)
    output = os.read(leader, 1000)
    os.close(leader)
    word = b"\x1b[1;31merror\x1b[0m" if colored else b"error"
    # On a slow machine, progress comes before it.
    assert output.endswith(word + b": missing: no such file\r\n")


@pytest.mark.parametrize(("force", "colored"), [("", False), ("0", False), ("1", True)])
def test_pipes_have_colors_only_if_the_environment_forces_them(
    force: str, colored: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("CLICOLOR_FORCE", force)
    output = carob("metrics", "rouge_l").stdout
    assert output.startswith("\x1b[1mrouge_l@" if colored else "rouge_l@")


def test_error_that_quotes_a_file_cannot_control_the_terminal(tmp_path: Path):
    file = tmp_path / "evil.json"
    file.write_text('{"\\u001b]0;owned\\u0007\\u009b31m": 1}')
    assert r"`\x1b]0;owned\x07\x9b31m`" in carob("show", str(file)).stderr


def test_pipes_are_utf8_in_every_locale(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    assert "… and preserved" in carob("demo").stdout


def test_demo_ends_with_a_good_release_that_passes_and_one_that_fails():
    verdicts = re.findall(r"^(passed|failed): bike_shop", carob("demo").stdout, re.MULTILINE)
    assert verdicts == ["passed", "failed"] * 2  # from traces, then from the live agent


def test_file_name_that_is_not_utf8_is_an_error():
    process = carob("show", os.fsdecode(b"\xff.csv"))
    assert (process.returncode, process.stderr.splitlines()[0]) == (
        2,
        r"error: '\udcff.csv' is not valid UTF-8",
    )


def test_os_error_is_shown_without_a_traceback(tmp_path: Path):
    (tmp_path / "file").touch()
    process = carob("demo", "--keep", str(tmp_path / "file" / "below"))
    assert (process.returncode, process.stderr) == (
        2,
        f"error: {tmp_path}/file/below: Not a directory\n",
    )


def test_interrupted_command_raises_a_stopped_error(monkeypatch: pytest.MonkeyPatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("carob.api.datasets.summarise", interrupt)
    result = CliRunner().invoke(commands, ["show", "any.json"])
    assert isinstance(result.exception, StoppedError)


def test_demo_overwrites_nothing(tmp_path: Path):
    (tmp_path / "support.csv").write_text("mine")
    process = carob("demo", "--keep", str(tmp_path))
    assert (process.returncode, (tmp_path / "support.csv").read_text()) == (2, "mine")


def test_module_is_the_same_command():
    process = subprocess.run(
        [sys.executable, "-m", "carob", "--version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert process.stdout == carob("--version").stdout


@pytest.mark.parametrize(("file", "code"), [("golden.json", 0), ("missing.json", 2)])
def test_closed_streams_do_not_change_the_exit_code(tmp_path: Path, file: str, code: int):
    (tmp_path / "golden.json").write_text('[{"question": "Open on Sunday?", "answer": "No"}]')
    command = f'exec "{CAROB}" show {file} >&- 2>&-'
    process = subprocess.run(["sh", "-c", command], cwd=tmp_path, timeout=60, check=False)
    assert process.returncode == code


def test_missing_choice_is_one_line():
    process = carob("completion")
    assert process.stderr.splitlines()[0] == "error: missing argument '{bash|zsh|fish}'"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "--threshold", "0.5"), "'--threshold': '0.5'; expected METRIC=NUMBER"),
        (("run", "--label", "main"), "'--label': 'main'; expected NAME=VALUE"),
        (("gate", "latest", "--margin", "few"), "'--margin': 'few'; expected a number"),
    ],
)
def test_invalid_pair_names_its_option(args: tuple[str, ...], message: str):
    assert carob(*args).stderr.splitlines()[0] == f"error: invalid value for {message}"
