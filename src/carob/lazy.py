"""Import an object by name when it is first needed.

Tables list modules that must not be imported at start-up: the public names of the package, the
commands, the report forms, the judge providers and the built-in plugins. Everything else imports
its modules in the ordinary way.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def load_object(reference: str) -> Any:
    """Return the object that `package.module:name` refers to."""
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
