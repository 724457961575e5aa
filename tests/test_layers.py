"""Imports point down only, as the table in docs/architecture.md says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "carob"
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


class Import(NamedTuple):
    line: int
    name: str
    """The module or member, dotted, from `carob` on."""
    late: bool


def _names(cell: str) -> set[str]:
    return set(re.findall(r"`([\w.]+)`", cell))


def _rows(title: str) -> list[tuple[set[str], set[str]]]:
    section = PAGE.split(f"## {title}", 1)[1].split("\n## ", 1)[0]
    cells = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    return [(_names(first), _names(second)) for first, second in cells[2:]]


TABLE = {part: allowed for parts, allowed in _rows("Import rules") for part in parts}


def _room(dotted: str) -> str:
    """The room of `carob.datasets.formats.csv` is `datasets`; of `carob.Dataset`, `__init__`."""
    first = dotted.split(".")[1] if "." in dotted else "__init__"
    return first if first in TABLE or (PACKAGE / first).exists() else "__init__"


def _base(node: ast.ImportFrom, module: Path) -> str:
    if not node.level:
        return node.module or ""
    package = ["carob", *module.relative_to(PACKAGE).parent.parts]
    above = package[: len(package) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _imported(node: ast.AST, module: Path) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{_base(node, module)}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        reference = re.fullmatch(r"(carob\.[\w.]+):\w+", node.value)  # for `lazy.load_object`
        return [reference[1]] if reference else []
    return []


def _imports(module: Path) -> Iterator[Import]:
    tree = ast.parse(module.read_text("utf-8"))
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    inner = {id(node) for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        for name in _imported(node, module):
            if name.split(".")[0] == "carob" and name != "carob.__version__":
                statement = not isinstance(node, ast.Constant)
                yield Import(getattr(node, "lineno", 0), name, statement and id(node) in inner)


def _own_room(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_module_imports_only_what_the_table_allows(module: Path):
    own = _own_room(module)
    allowed = TABLE[own] | {own}
    wrong = [imported for imported in _imports(module) if _room(imported.name) not in allowed]
    assert wrong == []


def test_only_lazy_imports_our_modules_by_string():
    by_string = re.compile(r"import_module\(\s*f?[\"']carob")
    assert [path for path in MODULES if by_string.search(path.read_text("utf-8"))] == []


def test_page_describes_every_room_of_the_table_and_no_other():
    assert {name for first, _ in _rows("Packages") for name in first} == TABLE.keys()


def test_table_lists_the_rooms_of_the_tree_and_no_other():
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {_own_room(file) for file in files} - {"py.typed"} == TABLE.keys()
    assert {name for allowed in TABLE.values() for name in allowed} <= TABLE.keys()


def test_table_has_no_cycle():
    remaining = {part: allowed - {part} for part, allowed in TABLE.items()}
    while free := [part for part, allowed in remaining.items() if not allowed]:
        remaining = {
            part: allowed - {*free} for part, allowed in remaining.items() if part not in free
        }
    assert remaining == {}


def test_import_inside_a_function_is_found(tmp_path: Path):
    module = tmp_path / "m.py"
    module.write_text("import os\nasync def f():\n    from carob.api import load\n")
    assert list(_imports(module)) == [Import(3, "carob.api.load", late=True)]


def test_import_by_reference_is_found(tmp_path: Path):
    module = tmp_path / "m.py"
    module.write_text('TABLE = {"a": "carob.api.load:load"}\n')
    assert list(_imports(module)) == [Import(1, "carob.api.load", late=False)]
