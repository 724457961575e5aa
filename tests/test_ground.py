from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from zipfile import ZipFile

import click
import pytest

import carob
from carob.cli import carob as commands

ROOT = Path(__file__).parents[1]
_IGNORED = (ROOT / ".gitignore").read_text("utf-8").splitlines()
_SKIPPED = {".git", *(name.rstrip("/") for name in _IGNORED)}
# Written so that this file does not match itself.
_FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|opt)/|/tmp/[t]ry|\.\./[s]hared|[p]ypi\.org|[p]ythonhosted|"
    r"(?<!no-emit-)[i]ndex-url|--[f]ind-links|--[t]rusted-host"
)


def _files() -> Iterator[Path]:
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in _SKIPPED and "_cache" not in name]
        yield from (Path(folder, name) for name in names if name not in _SKIPPED)


def _documented() -> set[str]:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    return {name for page in pages for name in re.findall(r"carob (\w+)", page.read_text("utf-8"))}


def _pinned(*names: str) -> set[str]:
    texts = [(ROOT / "requirements" / f"{name}.txt").read_text("utf-8") for name in names]
    return {name for text in texts for name in re.findall(r"^([\w-]+)==", text, re.MULTILINE)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return set(ZipFile(built).namelist())


def test_public_names_are_sorted_and_exist():
    assert carob.__all__ == sorted(carob.__all__)
    assert [name for name in carob.__all__ if not hasattr(carob, name)] == []


def test_nothing_else_leaks_from_the_package():
    rooms = {path.stem for path in Path(carob.__file__).parent.iterdir()}
    public = {name for name in vars(carob) if not name.startswith(("_", "@py"))}  # pytest's own
    helpers = {"annotations", "TYPE_CHECKING"}
    leaked = public - {*carob.__all__} - rooms - helpers
    assert leaked == set()
    assert not [
        name for name in carob.__all__ if isinstance(vars(carob).get(name), types.ModuleType)
    ]


def test_wheel_ships_types_and_bundled_data(wheel: set[str]):
    data = ROOT / "src" / "carob" / "demo" / "data"
    files = [path for path in data.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    bundled = {str(path.relative_to(ROOT / "src")) for path in files}
    assert {"carob/py.typed", *bundled} <= wheel


def test_wheel_ships_nothing_but_the_package(wheel: set[str]):
    assert {name.split("/")[0] for name in wheel if ".dist-info/" not in name} == {"carob"}


def test_no_installed_package_is_part_of_the_repository():
    # A checkout has `.git`; a source distribution has nothing to ask.
    if not (ROOT / ".git").exists():
        return
    listing = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    installed = ("node_modules/", "site-packages/")
    assert [
        name for name in listing.stdout.split("\n") if any(part in name for part in installed)
    ] == []


def test_no_file_names_a_local_path_or_a_package_index():
    matches = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in _files()
        for match in _FORBIDDEN.finditer(path.read_text("utf-8", errors="ignore"))
    ]
    assert matches == []


@pytest.mark.parametrize("name", ["base", "dev", "weights", "peers", "frameworks"])
def test_every_requirement_is_pinned_with_hashes(name: str):
    text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
    entries = text.replace("\\\n", " ").splitlines()
    loose = [line for line in entries if "==" not in line or "--hash=sha256:" not in line]
    assert loose == []


@pytest.mark.parametrize("command", commands.list_commands(click.Context(commands)))
def test_every_command_is_documented(command: str):
    assert command in _documented()


@pytest.mark.parametrize("command", commands.list_commands(click.Context(commands)))
def test_every_command_answers_to_help(command: str):
    instance = commands.get_command(click.Context(commands), command)
    assert instance is not None
    assert instance.get_short_help_str()


def test_make_help_lists_every_verb():
    text = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert phony
    process = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True
    )
    assert re.findall(rb"^  make (\w+)", process.stdout, re.MULTILINE) == phony[1].encode().split()


def test_every_dependency_and_extra_is_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project.get("optional-dependencies", {}).values()
    requirements = [*project["dependencies"], *(name for extra in extras for name in extra)]
    names = {re.split(r"[\s\[<>=!~;]", name)[0].lower().replace("_", "-") for name in requirements}
    assert names - _pinned("base", "dev", "cluster") - {"carob"} == set()
    assert _pinned("base") >= {"click", "msgspec", "semver"}


def _third_party(path: Path) -> set[str]:
    text = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text)))
    optional = set(re.findall(r"importorskip\(\s*\"([\w.]+)", text))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    froms = {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    own = {"carob", "tests", "bench", "_typeshed", *sys.stdlib_module_names}
    return {name.split(".")[0] for name in plain | froms | optional} - own


def test_every_imported_package_is_pinned():
    homes = packages_distributions()
    pinned = _pinned("base", "dev")
    # Pinned in captures.toml and in requirements/frameworks.txt, and those of the peers.
    frameworks = {ROOT / "tests" / room / "frameworks" for room in ("captures", "targets")}
    frameworks.add(ROOT / "tests" / "oracle")
    paths = [
        path
        for room in ("src", "tests", "bench")
        for path in (ROOT / room).rglob("*.py")
        if frameworks.isdisjoint(path.parents)
    ]
    loose = {
        name: str(path.relative_to(ROOT))
        for path in paths
        for name in _third_party(path)
        if not pinned & {home.lower().replace("_", "-") for home in homes.get(name, [])}
    }
    assert loose == {}


def test_every_extra_is_in_the_guide_for_beginners():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    guide = (ROOT / "docs" / "guides" / "getting-started.md").read_text("utf-8")
    rows = "".join(line for line in guide.splitlines() if line.startswith("| `"))
    assert [name for name in extras["optional-dependencies"] if f"`{name}`" not in rows] == []
