"""Import an object by name when it is first needed.

For tables whose modules must not be imported at start-up: the public names of the package, the
commands of the command line, and the built-ins of every extension point. Everything else imports
its modules in the ordinary way.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load_object(reference: str) -> Any:
    """Return the object that `package.module:name` refers to."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
