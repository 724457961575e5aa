"""YAML, where PyYAML is installed. No key twice, and no aliases: a few lines of those can stand for
gigabytes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from carob.errors import UsageError
from carob.schema import Json


def decode(text: str) -> Json:
    """The value of a YAML text; a `ValueError` says what is wrong, and where."""
    yaml = _library()
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"an alias {_at(event)}; write the value out")
        _check_keys(yaml.compose(text, Loader=yaml.SafeLoader))
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        place = f" (at line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise ValueError(f"{error.problem}{place}") from error
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _library() -> Any:
    try:
        return import_module("yaml")
    except ImportError as error:
        raise UsageError(
            "YAML needs the package 'PyYAML', which is not installed", hint="pip install PyYAML"
        ) from error


def _check_keys(node: Any) -> None:
    """PyYAML lets the last of two equal keys win."""
    if node is None or node.id == "scalar":
        return
    if node.id == "sequence":
        for item in node.value:
            _check_keys(item)
        return
    seen: set[str] = set()
    for key, value in node.value:
        if key.tag != "tag:yaml.org,2002:str":
            raise ValueError(f"a key that is not text {_at(key)}")
        if key.value in seen:
            raise ValueError(f"the key {key.value!r} is there twice {_at(key)}")
        seen.add(key.value)
        _check_keys(value)


def _at(node: Any) -> str:
    return f"(at line {node.start_mark.line + 1})"
