"""Judges: metrics that ask a model, and all that stands between a question and its answer.

What other rooms need is imported when it is asked for: a run without judges pays for none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carob.judges.client.asker import LiveAsker
    from carob.judges.client.budget import Budget
    from carob.judges.client.cache import Cache, Kept, Lasting, Memory
    from carob.judges.client.caller import Caller
    from carob.judges.client.estimate import Estimator
    from carob.judges.client.price import cost
    from carob.judges.providers import open_model
    from carob.judges.rubrics.definitions import definition_class
    from carob.judges.rubrics.load import rubric_class

__all__ = [
    "Budget",
    "Cache",
    "Caller",
    "Estimator",
    "Kept",
    "Lasting",
    "LiveAsker",
    "Memory",
    "cost",
    "definition_class",
    "open_model",
    "rubric_class",
]

_HOMES = {
    "client.asker": {"LiveAsker"},
    "client.budget": {"Budget"},
    "client.cache": {"Cache", "Kept", "Lasting", "Memory"},
    "client.caller": {"Caller"},
    "client.estimate": {"Estimator"},
    "client.price": {"cost"},
    "providers": {"open_model"},
    "rubrics.definitions": {"definition_class"},
    "rubrics.load": {"rubric_class"},
}


def __getattr__(name: str) -> object:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'carob.judges' has no attribute {name!r}")
    return getattr(import_module(f"carob.judges.{home}"), name)
