"""Keys in snake case and in camel case: `case_id`, `caseId`."""

from __future__ import annotations

from functools import cache, lru_cache

from karat.datasets.patch import Object


@lru_cache(maxsize=4096)  # the keys of rows are few, and come again in each row
def folded(key: str) -> str:
    """A key without the differences between its spellings."""
    return key.replace("_", "").lower()


def respelt(item: Object, names: tuple[str, ...]) -> Object:
    """The object with these keys spelt like this; the usual spelling wins over another one."""
    usual = _usual(names)
    spelt = {key: usual.get(folded(key), key) for key in item}
    return {name: item[key] for key, name in spelt.items() if key == name or name not in item}


@cache
def _usual(names: tuple[str, ...]) -> dict[str, str]:
    return {folded(name): name for name in names}
