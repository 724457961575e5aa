"""Evaluators in configs: code and commands, which need the user's trust."""

from __future__ import annotations

import shlex
from pathlib import Path

from carob.config.table_reader import Table, path_inside
from carob.schema import EvaluatorSettings

EXECUTED = "a run executes this code"


def read_evaluator(table: Table, folder: Path) -> EvaluatorSettings:
    """Read `code` or `command` of a `[metrics.NAME]` table in `carob.toml`."""
    timeout, env = table.number("timeout"), table.texts("env")
    if timeout is not None and timeout <= 0:
        raise table.error("timeout", f"expected a number above 0, got {timeout:g}")
    batch, config = table.flag("batch"), table.table("config")
    for name in env:
        table.sensitive_value("env", name, effect="an evaluator receives this environment variable")
    command = table.text("command")
    file, _, function = (table.text("code") or "").partition(":")
    admitted = None
    if command is None:
        path = path_inside(table, "code", file, folder)
        admitted = table.sensitive_file("code", path, effect=EXECUTED)
    return EvaluatorSettings(
        kind="python" if command is None else "lines",
        file=admitted or "",
        function=function or None,
        command=() if command is None else _command(table, command, folder),
        config=config.entries() if config else {},
        timeout=timeout or 30.0,
        env=env,
        batch=batch,
    )


def _command(table: Table, text: str, folder: Path) -> tuple[str, ...]:
    """Return the words of a command. Words that are files of the folder become their paths, and
    their content is trusted with the command."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise table.error("command", f"invalid command: {error}") from error
    paths = [str(folder / word) if is_file(folder / word) else word for word in words]
    for word, path in zip(words, paths, strict=True):
        if word != path or is_file(Path(path)):
            table.sensitive_file("command", path, effect=EXECUTED)
    admitted = table.sensitive("command", effect=EXECUTED)
    return tuple(paths) if admitted is not None else ()


def find_module(dotted: str) -> str:
    """Return the file that defines a function with a dotted path; empty if it is not in the working
    directory."""
    stem = Path(*dotted.rpartition(".")[0].split("."))
    candidates = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((str(path) for path in candidates if path.name != ".py" and is_file(path)), "")


def is_file(path: Path) -> bool:
    """Return whether a file exists, also for names that cannot exist: too long, or with a NUL."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
