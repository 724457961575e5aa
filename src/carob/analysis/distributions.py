"""Distributions of the statistical tests and intervals, from scipy."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from carob.errors import require_packages


def require_statistics(purpose: str) -> None:
    """Raise `UsageError` if the packages for statistics are not installed."""
    require_packages(purpose, "numpy", "scipy", extra="stats")


def import_optional(module: str) -> Any:
    """Import a module of numpy or scipy, which are optional and slow to import."""
    require_statistics("this statistic")
    return import_module(module)


def normal_quantile(share: float) -> float:
    """The quantile of the standard normal distribution."""
    from statistics import NormalDist  # late: a server may compare nothing

    return NormalDist().inv_cdf(share)


def t_quantile(share: float, degrees: float) -> float:
    """The quantile of Student's t distribution with this many degrees of freedom."""
    return _special("stdtrit")(degrees, share)


def fair_coin_cdf(heads: int, tosses: int) -> float:
    """The probability that a fair coin shows at most this many heads."""
    return _special("bdtr")(heads, tosses, 0.5)


def rate_for_hits(hits: int, tries: int, probability: float) -> float:
    """The rate at which at least this many tries are hits with the given probability."""
    return _special("betaincinv")(hits, tries - hits + 1, probability)


def _special(name: str) -> Callable[..., float]:
    function = cast("Callable[..., Any]", getattr(import_optional("scipy.special"), name))
    return lambda *arguments: float(function(*arguments))
