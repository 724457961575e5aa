"""Judges: metrics that ask a model, and all that stands between a question and its answer.

What other rooms need is imported when it is asked for: a run without judges pays for none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from karat.judges.asking.asker import LiveAsker
    from karat.judges.asking.budget import Budget
    from karat.judges.asking.cache import Cache, Kept, Lasting, Memory
    from karat.judges.asking.caller import Caller
    from karat.judges.asking.estimate import Estimator
    from karat.judges.asking.price import cost
    from karat.judges.models import open_model
    from karat.judges.rubrics.definitions import definition_class
    from karat.judges.rubrics.load import rubric_class

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
    "asking.asker": {"LiveAsker"},
    "asking.budget": {"Budget"},
    "asking.cache": {"Cache", "Kept", "Lasting", "Memory"},
    "asking.caller": {"Caller"},
    "asking.estimate": {"Estimator"},
    "asking.price": {"cost"},
    "models": {"open_model"},
    "rubrics.definitions": {"definition_class"},
    "rubrics.load": {"rubric_class"},
}


def __getattr__(name: str) -> object:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'karat.judges' has no attribute {name!r}")
    return getattr(import_module(f"karat.judges.{home}"), name)
