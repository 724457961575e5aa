"""The name of a live agent in a config, which needs the user's trust, as does the code that it
names."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from carob.config.dialects.evaluators import find_module, is_file
from carob.config.table_reader import Table


def read_target_name(table: Table, key: str, *, effect: str) -> str | None:
    """Read the name of a target. The content of files that it names is trusted with it: a pull
    request could otherwise leave the name alone and change the code."""
    for file in dict.fromkeys(_find_files(table.text(key) or "")):
        table.sensitive_file(key, file, effect=effect)
    return table.sensitive(key, effect=effect)


def _find_files(name: str) -> Iterator[str]:
    """Yield the files of the working directory that a target names, such as `agent.py` in
    `python:agent.py:answer`, `adk:shop.agent:root_agent` or `command:python agent.py`."""
    scheme, _, rest = name.partition(":")
    try:
        words = shlex.split(rest) if scheme == "command" else [rest]
    except ValueError:  # opening the target reports it
        words = [rest]
    for word in words:
        reference = word.rpartition(":")[0]
        for path in (word, reference):
            if path and is_file(Path(path)):
                yield path
        if module := find_module(f"{reference}.x") if reference else "":
            yield module
