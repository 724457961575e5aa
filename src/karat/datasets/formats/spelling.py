"""Keys in snake case and in camel case: `case_id`, `caseId`."""

from __future__ import annotations

from collections.abc import Iterable

from karat.datasets.patch import Object


def folded(key: str) -> str:
    """A key without the differences between its spellings."""
    return key.replace("_", "").lower()


def respelt(item: Object, names: Iterable[str]) -> Object:
    """The object with these keys spelt like this; the usual spelling wins over another one."""
    usual = {folded(name): name for name in names}
    spelt = {key: usual.get(folded(key), key) for key in item}
    return {name: item[key] for key, name in spelt.items() if key == name or name not in item}
