"""The distributions that the tests and intervals stand on, from scipy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from statistics import NormalDist
from typing import Any, cast

from carob.errors import UsageError


def optional(module: str) -> Any:
    """A module of numpy or scipy, imported when numbers are asked for and not before."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise UsageError(
            f"statistics need the package {package!r}, which is not installed",
            hint="pip install 'carob[stats]'",
        ) from error


def normal_quantile(share: float) -> float:
    """The value below which a standard normal number lies so often."""
    return NormalDist().inv_cdf(share)


def t_quantile(share: float, freedom: float) -> float:
    """The same for Student's t with so many degrees of freedom."""
    return _special("stdtrit")(freedom, share)


def heads_at_most(hits: int, tosses: int) -> float:
    """How often a fair coin shows heads no more than so many times."""
    return _special("bdtr")(hits, tosses, 0.5)


def rate_for(hits: int, tries: int, share: float) -> float:
    """The rate at which there are at least so many hits with the given probability."""
    return _special("betaincinv")(hits, tries - hits + 1, share)


def _special(name: str) -> Callable[..., float]:
    function = cast("Callable[..., Any]", getattr(optional("scipy.special"), name))
    return lambda *arguments: float(function(*arguments))
