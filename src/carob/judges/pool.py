"""The judge models of one run: one client per model, with a shared cache and budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, cast

import msgspec

from carob.config.trust import untrusted_error
from carob.errors import UntrustedError
from carob.metrics import Judge, JudgeClient, Metric
from carob.schema import JudgeSettings
from carob.schema.judge import names_weights

if TYPE_CHECKING:
    from carob.judges.client.budget import Budget, SharedSpending
    from carob.judges.client.cache import Cache
    from carob.judges.providers.open import ProviderFactory


class JudgePool:
    """Opens the models that the metrics of a run ask.

    `open_cache` is called once, when the first judge is needed. `providers` are the judge
    providers by name, the built-in ones by default. In a `dry` pool no model is opened:
    its clients only estimate what a run would ask.
    """

    def __init__(
        self,
        judge: str | JudgeSettings | None,
        open_cache: Callable[[], Cache],
        *,
        providers: Mapping[str, ProviderFactory] | None = None,
        dry: bool = False,
    ) -> None:
        choice = JudgeSettings(model=judge, always=True) if isinstance(judge, str) else judge
        self._choice = choice or JudgeSettings()
        self._open_cache = open_cache
        self._providers = providers
        self._dry = dry
        self._clients: dict[str, JudgeClient] = {}

    def client_for(self, metric: Metric) -> JudgeClient | None:
        """Return the client that answers the questions of a metric, or `None` if the metric is
        not a judge or no model is configured."""
        if not metric.judged:
            return None
        own = None if self._choice.always else cast("Judge", metric).judge_model
        if own and names_weights(own):
            raise UntrustedError(
                f"{metric.name}: a metric cannot name the file of a model, found {own!r}",
                hint="name it with --judge, or as `judge` in carob.toml",
            )
        model = own or self._choice.model
        return self.client_of(model)

    def client_of(self, model: str | None = None) -> JudgeClient | None:
        """Return the client of a model, by default of the one that is configured. `None` if there
        is none."""
        model = model or self._choice.model
        if not model and self._choice.withheld and not self._dry:
            raise untrusted_error(self._choice.source, self._choice.withheld)
        if not model:
            return None
        if model not in self._clients:
            self._clients[model] = self._open(msgspec.structs.replace(self._choice, model=model))
        return self._clients[model]

    @property
    def stopped(self) -> str | None:
        """Why the budget stopped the run before every question was asked."""
        return self._budget.stopped if self._clients else None

    def share_spending(self, spending: SharedSpending) -> None:
        """Let the limits hold for all processes that share the spending."""
        self._budget.shared = spending

    @cached_property
    def _cache(self) -> Cache:
        return self._open_cache()

    @cached_property
    def _budget(self) -> Budget:
        from carob.judges.client.budget import Budget  # late: see `_open`

        return Budget(max_calls=self._choice.max_calls, max_cost=self._choice.max_cost)

    def _open(self, choice: JudgeSettings) -> JudgeClient:
        # Imported late: asyncio and the clients take longer to import than a small run without
        # judges takes to score.
        from carob.judges.client.budget import cost
        from carob.judges.client.client import Estimator, ModelClient
        from carob.judges.client.retry import RetryingCaller
        from carob.judges.providers.open import open_model

        if self._dry:
            return Estimator(choice, self._cache)
        if choice.withheld:
            raise untrusted_error(choice.source, choice.withheld)
        self._budget.check_price(choice.model, cost(choice.model, 1, 1))
        caller = RetryingCaller(
            open_model(choice, self._providers),
            self._budget,
            concurrency=choice.concurrency,
            deadline=choice.deadline,
        )
        return ModelClient(caller, choice, self._cache)
