"""Keys in snake case and in camel case: `case_id`, `caseId`."""

from __future__ import annotations

from functools import cache

from carob.datasets.patch import Object
from carob.text.spelling import fold


def respelt(item: Object, names: tuple[str, ...]) -> Object:
    """The object with these keys spelt like this; the usual spelling wins over another one."""
    usual = _usual(names)
    spelt = {key: usual.get(fold(key), key) for key in item}
    return {name: item[key] for key, name in spelt.items() if key == name or name not in item}


@cache
def _usual(names: tuple[str, ...]) -> dict[str, str]:
    return {fold(name): name for name in names}
