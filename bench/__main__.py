"""`python -m bench [NAME…]`: measure all groups of rows, or some, and write them into the page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules
from typing import cast

import bench.rows
from bench import report
from bench.measure import compile_bytecode
from bench.row import Row


def main(chosen: list[str]) -> int:
    """Run the benchmarks. Returns exit code 1 if a target was missed."""
    names = sorted(module.name for module in iter_modules(bench.rows.__path__))
    unknown = sorted({*chosen} - {*names})
    if unknown:
        sys.stderr.write(
            f"error: unknown row {unknown[0]!r}\n\nhint: expected one of: {', '.join(names)}\n"
        )
        return 2
    compile_bytecode()
    measured: list[Row] = []
    for name in chosen or names:
        rows = [*_measure(name)]
        report.show(rows)
        report.write(name, rows)  # at once, so that nothing is lost if a later group breaks
        measured += rows
    return 0 if all(row.met for row in measured) else 1


def _measure(name: str) -> Iterable[Row]:
    sys.stderr.write(f"measuring {name} …\n")
    measure = import_module(f"bench.rows.{name}").measure
    return cast("Callable[[], Iterable[Row]]", measure)()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
