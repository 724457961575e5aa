"""Every command that writes, each in a folder of its own, and the check of what it leaves behind.

A command may be stopped anywhere. Then every file must have its old or its new content, the store
must verify and still have all its runs, what was acknowledged must be there, and the same command,
given again, must lead to the same end as one that was never stopped.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from click.testing import CliRunner, Result

from carob.api.versions import verify
from carob.cli import carob
from tests.torture.targets import prepare

CAROB = str(Path(sys.executable).with_name("carob"))
_GOLDEN = "support.evalset.json"
_RUN = ("run", "traces/regressed.otlp.jsonl", "-g", _GOLDEN, "--allow-unscored")
_SCORES = """\
{"case": "a", "profile": "prep_default", "scores": {"Relevance": 4, "Coherence": 2.5}}
{"case": "b", "profile": "prep_default", "scores": {"Relevance": 5, "Coherence": 5}}
"""
_TEST = """\
import pytest


@pytest.mark.golden("support.evalset.json", traces="traces/good.otlp.jsonl")
def test_support(): ...
"""
_IGNORED = ("s.db", ".carob", "state", "tmp")
"""The store is judged by commands; journals and temporary files may be left behind by a kill."""


_MOMENT = re.compile(rb"20\d\d-\d\d-\d\dT[\d:.]+Z")
"""Two runs of a command differ in the time at which they were made, and in nothing else."""


_NOTE = re.compile(r"(golden/)?registry/[^/]+\.json")
"""Which release of a dataset is the newest, and which one is being made."""


class Scenario(NamedTuple):
    """A command that writes."""

    name: str
    command: tuple[str, ...]
    again: tuple[str, ...] = ()
    """Options of the second attempt, such as `--resume`."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands that come first."""
    program: tuple[str, ...] = (CAROB,)


def _run(name: str, *options: str) -> Scenario:
    return Scenario(name, (*_RUN, *options, "--store", "s.db"), ("--resume",))


SCENARIOS = (
    _run("run", "--jobs", "1"),
    _run("run, 2 jobs", "--jobs", "2"),
    _run("run, new store", "--jobs", "1", "--keep-traces"),
    _run("run, kept traces", "--jobs", "2", "--keep-traces", "--format", "json", "-o", "out.json"),
    Scenario("convert to a table", ("convert", _GOLDEN, "new.csv", "--to", "csv")),
    Scenario("convert over a table", ("convert", _GOLDEN, "support.csv", "--to", "csv", "--force")),
    Scenario("convert to JSON", ("convert", "table.csv", "new.json", "--to", "adk")),
    Scenario("subset", ("subset", _GOLDEN, "new.json", "--limit", "3")),
    Scenario("lint --fix", ("lint", "private.json", "--fix")),
    Scenario(
        "review",
        ("review", "table.csv", "--all", "--as", "approved", "--by", "me", "--date", "2026-01-01"),
    ),
    Scenario(
        "release",
        ("release", "next.json", "--by", "me", "--date", "2027-01-01", "--registry", "registry"),
    ),
    Scenario(
        "first release",
        ("release", "support_golden.json", "--by", "me", "--date", "2027-01-01"),
    ),
    Scenario(
        "checkout",
        ("checkout", "bike-shop-support@1.0.0", "new.json", "--registry", "registry"),
    ),
    Scenario("capture", ("capture", "traces/good.otlp.jsonl", "new.json", "--to", "adk")),
    Scenario(
        "capture --append",
        ("capture", "traces/regressed.otlp.jsonl", "captured.json", "--to", "adk", "--append"),
        setup=(("capture", "traces/good.otlp.jsonl", "captured.json", "--to", "adk"),),
    ),
    Scenario(
        "convert --append",
        ("convert", _GOLDEN, "captured.json", "--append"),
        setup=(("capture", "traces/good.otlp.jsonl", "captured.json", "--to", "adk"),),
    ),
    Scenario("report", ("report", "run.json", "--format", "html", "-o", "new.html")),
    Scenario("compare", ("compare", "run.json", "run.json", "--format", "md", "-o", "new.md")),
    Scenario("gate", ("gate", "run.json", "--min-pass-rate", "0.1", "-o", "new.txt")),
    Scenario(
        "calibrate",
        (
            *("calibrate", "judged/tone.labels.csv", "--run", "judged/tone.run.json"),
            *("--min-kappa", "0.1", "--store", "s.db", "-o", "new.txt"),
        ),
    ),
    Scenario("schema", ("schema", "adk", "-o", "new.json")),
    Scenario("store export", ("store", "export", "new.jsonl", "--store", "s.db")),
    Scenario("store import", ("store", "import", "export.jsonl", "--store", "s.db")),
    Scenario("store label", ("store", "label", "latest", "stage=test", "--store", "s.db")),
    Scenario(
        "store prune",
        ("store", "prune", "--keep", "1", "--store", "s.db"),
        setup=((*_RUN, "--jobs", "1", "--store", "s.db"),),
    ),
    Scenario("trust", ("trust", "carob.toml")),
    Scenario("diff", ("diff", _GOLDEN, "next.json", "--format", "md", "-o", "new.md")),
    Scenario("runs", ("runs", "--format", "json", "--store", "s.db", "-o", "new.json")),
    Scenario("policy apply", ("policy", "apply", "scores.jsonl", "-o", "new.txt")),
    Scenario("serve token", ("serve", "token", "new", "ci", "--role", "read", "--store", "s.db")),
    Scenario(
        "pytest",
        ("test_shop.py", "-q", "-p", "no:cacheprovider", "--carob-run", "new.json"),
        program=(sys.executable, "-m", "pytest"),
    ),
)


class End(NamedTuple):
    """How a command ended, and what it printed."""

    code: int | None
    """`None` if it was killed."""
    errors: str


class State(NamedTuple):
    """What a folder contains, as far as a user can see."""

    files: Mapping[str, str]
    """Digests by path."""
    runs: Mapping[str, str]
    """The runs of the store as JSON, by id."""


class Stage:
    """A scenario with its states before and after an undisturbed command."""

    def __init__(self, scenario: Scenario, samples: Path, folder: Path) -> None:
        self.scenario = scenario
        self._before = folder / "before"
        shutil.copytree(samples, self._before)
        if "new store" in scenario.name:
            (self._before / "s.db").unlink()
        for command in scenario.setup:
            invoke(self._before, command)
        after = folder / "after"
        shutil.copytree(self._before, after)
        started = monotonic()
        end = run_command(after, scenario.command, program=scenario.program)
        self.seconds = monotonic() - started
        if "Traceback" in end.errors or end.code not in (0, 1):
            raise RuntimeError(f"{scenario.name} ends with {end.code}: {end.errors}")
        self.code = end.code
        self.before, self.after = observe(self._before), observe(after)

    def copy(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self._before, folder)

    def judge(self, folder: Path, end: End) -> Iterator[str]:
        """Yield what is wrong after a disturbed command, and after the same command again."""
        if "Traceback" in end.errors:
            yield f"traceback: {end.errors[-1500:]}"
        yield from self._mixed(folder)
        state = observe(folder)
        yield from state.runs.get("problem", "").splitlines()
        for name, text in self.before.runs.items():
            later = self.after.runs.get(name)  # it may be pruned, or get a label
            if later is not None and state.runs.get(name) not in (text, later):
                yield f"run {name} was there before, and is not any more"
        acknowledged = end.code == self.code and "warning" not in end.errors
        if acknowledged and not _same(state, self.after):
            yield f"acknowledged, but not there: {_difference(state, self.after)}"
        command = (*self.scenario.command, *self.scenario.again)
        again = run_command(folder, command, program=self.scenario.program)
        if "Traceback" in again.errors:
            yield f"traceback at the second attempt: {again.errors[-1500:]}"
        resumed = observe(folder)
        if again.code == self.code:
            litter = [name for name in resumed.files if name.endswith(".tmp") or ".staging" in name]
            yield from (f"{name} is left behind" for name in litter)
        if not _same(resumed, self.after):
            difference = _difference(resumed, self.after)
            yield f"the second attempt ends differently: {difference}; {again.errors[-300:]}"

    def _mixed(self, folder: Path) -> Iterator[str]:
        for name, digest in _digests(folder).items():
            allowed = (self.before.files.get(name), self.after.files.get(name))
            if digest in allowed or _is_temporary(name):
                continue
            if not _is_understood(folder, name):
                yield f"{name} has neither its old nor its new content"
        for name in self.before.files.keys() & self.after.files.keys():
            if not (folder / name).exists():
                yield f"{name} is gone"


@contextmanager
def prepared_samples(folder: Path) -> Generator[Path]:
    """A folder with everything that the scenarios start from."""
    samples = folder / "samples"
    samples.mkdir()
    prepare(samples)
    text = (samples / _GOLDEN).read_text()
    (samples / "next.json").write_text(text.replace("eval_id", "eval_id", 1).replace("?", "??", 1))
    (samples / "private.json").write_text(text.replace("?", "? I am mara@example.com.", 1))
    (samples / "scores.jsonl").write_text(_SCORES)
    (samples / "test_shop.py").write_text(_TEST)
    (samples / "carob.toml").write_text('[judge]\nurl = "http://127.0.0.1:1/v1"\n')
    yield samples


def run_command(
    folder: Path,
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = (CAROB,),
) -> End:
    """Run a command to its end."""
    process = start(folder, command, env, program)
    _, errors = process.communicate(timeout=60)
    return End(process.returncode, errors)


def start(
    folder: Path,
    command: Sequence[str],
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = (CAROB,),
) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [*program, *command],
        cwd=folder,
        env=_environment(folder) | dict(env or {}),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        start_new_session=True,
    )


def observe(folder: Path, store: str = "s.db") -> State:
    """Look at a folder with commands."""
    return State(_digests(folder), _stored_runs(folder, store))


def _environment(folder: Path) -> dict[str, str]:
    own = {"XDG_STATE_HOME": f"{folder}-state", "TMPDIR": str(folder / "tmp")}
    return {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": "1", "CI": ""}


def _stored_runs(folder: Path, store: str) -> dict[str, str]:
    if not (folder / store).exists():
        return {}
    verified = invoke(folder, ("store", "verify", "--store", store))
    if verified.exit_code != 0:
        return {"problem": f"store verify: {verified.output} {verified.exception}"}
    listed = invoke(folder, ("runs", "--limit", "1000", "--format", "json", "--store", store))
    entries = json.loads(listed.stdout)["runs"]
    runs: dict[str, str] = {}
    for entry in entries:
        name = entry["id"]
        shown = invoke(folder, ("report", name, "--format", "json", "--store", store))
        runs[name] = f"{shown.stdout} {entry.get('labels')}"
    return runs


def invoke(folder: Path, command: Sequence[str]) -> Result:
    """Run a command in this process, which is faster. Only for commands that are not judged."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return CliRunner().invoke(carob, command)
    finally:
        os.chdir(before)


def _digests(folder: Path) -> dict[str, str]:
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return {
        name: sha256(_MOMENT.sub(b"", (folder / name).read_bytes())).hexdigest()
        for name in names
        if not name.startswith(_IGNORED)
    }


def _is_understood(folder: Path, name: str) -> bool:
    """Whether a file announces the next content of others, in a way that can be read."""
    if name.endswith(".carob.json"):
        if not (folder / name.removesuffix(".carob.json")).exists():
            return True  # it comes before its table, and nobody reads it without one
        return invoke(folder, ("show", name.removesuffix(".carob.json"))).exit_code == 0
    if name == "new.json":  # of pytest: a run without cases must not pass for one of earlier
        with suppress(ValueError):
            document = json.loads((folder / name).read_text())
            return document.get("verdict") == "inconclusive" and document["cases"] == []
    if _NOTE.fullmatch(name):
        return verify(registry=(folder / name).parent) == ()
    return False


def _is_temporary(name: str) -> bool:
    return name.endswith(".tmp") or any(part.startswith(".") for part in Path(name).parts)


def _same(state: State, other: State) -> bool:
    return not _difference(state, other)


def _difference(state: State, other: State) -> str:
    files = {name for name in {*state.files, *other.files} if not _is_temporary(name)}
    names = [name for name in files if state.files.get(name) != other.files.get(name)]
    runs = [*(state.runs.keys() ^ other.runs.keys())]
    return ", ".join(sorted([*names, *runs]))
