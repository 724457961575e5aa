"""Import an object by name when it is first needed.

For tables whose modules must not be imported at start-up: the public names of the package, the
commands of the command line, and the built-ins of every extension point; and for code that users
name. Everything else imports its modules in the ordinary way.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from carob.errors import UsageError


def load_object(reference: str) -> Any:
    """Return the object that `package.module:name` refers to."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)


def load_reference(reference: str, where: str) -> Any:
    """Import `FILE.py:NAME` or `package.module:NAME` of the user. Raises `UsageError`."""
    module_name, colon, name = reference.rpartition(":")
    if not colon or not module_name or not name:
        hint = "such as python:agent.py:answer or python:package.module:answer"
        raise UsageError("expected a module and a name", where=where, hint=hint)
    value = load_module(module_name, where)
    try:
        for part in name.split("."):
            value = getattr(value, part)
    except AttributeError as error:
        raise UsageError(str(error), where=where) from error
    return value


def load_module(name: str, where: str) -> Any:
    """Import a `.py` file or a module of the user. Raises `UsageError`."""
    try:
        if name.endswith(".py"):
            return _load_file(Path(name))
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        return import_module(name)
    except Exception as error:  # importing the user's code may fail in any way
        message = f"cannot import {name}: {type(error).__name__}: {error}"
        raise UsageError(message, where=where) from error


def _load_file(path: Path) -> Any:
    # Late: few commands load code of the user.
    from importlib.util import module_from_spec, spec_from_file_location

    if not path.is_file():
        raise FileNotFoundError("no such file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # the file may import its neighbours
        sys.path.insert(0, folder)
    # A file called `statistics.py` must not replace the module that others import by this name.
    name = f"carob_user_{path.stem}" if path.stem in sys.stdlib_module_names else path.stem
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
