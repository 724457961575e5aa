"""How the process of an evaluator is started: the interpreter of its language, and a host."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from carob.errors import UsageError
from carob.evaluators.process import Launch
from carob.schema import EvaluatorSettings

HOSTS = Path(__file__).parent / "hosts"
_SDK_FUNCTION = re.compile(r"^\s*@(\w+\.)?evaluator\b", re.MULTILINE)


def make_launch(settings: EvaluatorSettings) -> Launch:
    """Return how to start an evaluator. Raises `UsageError` if no program can run it."""
    command, persistent = _command(settings)
    return Launch(command, settings.timeout, settings.env, persistent)


def _command(settings: EvaluatorSettings) -> tuple[tuple[str, ...], bool]:
    file = settings.file
    if settings.kind == "lines":
        _check_program(settings.command)
        return settings.command, settings.batch is not False
    if settings.kind == "agentevals" and not (settings.batch is not False and is_hosted(file)):
        return (*_interpreter(file), file), False
    name = (settings.function,) if settings.function else ()
    if settings.kind == "adk" and "." in (settings.function or ""):
        module, _, function = str(settings.function).rpartition(".")
        return (sys.executable, str(HOSTS / "host.py"), "adk", module, function), True
    if settings.kind == "promptfoo" and Path(file).suffix in _NODE:
        return (*_interpreter(file), str(HOSTS / "host.mjs"), file, *name), True
    return (sys.executable, str(HOSTS / "host.py"), settings.kind, file, *name), True


def is_hosted(file: str) -> bool:
    """Whether an evaluator of agentevals is a single function with the decorator of its SDK: it
    is loaded once and called for every pair, which takes a thousandth of the time."""
    if not file.endswith(".py"):
        return False
    text = Path(file).read_text("utf-8", "replace")
    return "agentevals_evaluator_sdk" in text and len(_SDK_FUNCTION.findall(text)) == 1


_NODE = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts")


def _interpreter(file: str) -> tuple[str, ...]:
    suffix = Path(file).suffix
    if suffix == ".py":
        return (sys.executable,)
    if suffix in _NODE:
        return _node(file, typed=suffix.endswith("ts"))
    hint = "expected .py, .js or .ts; for other languages use a command that speaks JSON lines"
    raise UsageError(f"no program is known for {suffix or 'this file'}", where=file, hint=hint)


def _node(file: str, *, typed: bool) -> tuple[str, ...]:
    node = shutil.which("node")
    if typed and (node is None or _node_version(node) < (22, 6)):
        # Not one beside the file: trust in a file must not start a program that came with it.
        if runner := shutil.which("tsx"):
            return (runner,)
        hint = "install Node.js 22.6 or newer, or `npm install --global tsx`"
        raise UsageError("TypeScript needs a newer Node.js", where=file, hint=hint)
    if node is None:
        hint = "install Node.js, and make sure that `node` is on the PATH"
        raise UsageError("Node.js is not installed", where=file, hint=hint)
    strip = ("--experimental-strip-types",) if typed and _node_version(node) < (22, 18) else ()
    return (node, "--no-warnings", *strip)


@cache
def _node_version(node: str) -> tuple[int, int]:
    text = subprocess.run(  # noqa: S603 - the user's Node.js
        [node, "--version"], capture_output=True, text=True, timeout=10, check=False
    ).stdout
    match = re.match(r"v(\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _check_program(command: tuple[str, ...]) -> None:
    if not command or shutil.which(command[0]) is None:
        program = command[0] if command else ""
        raise UsageError(f"no such program: {program!r}", where=" ".join(command))
