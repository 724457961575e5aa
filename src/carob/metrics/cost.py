from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need, spent
from carob.metrics.prices import NEWEST, price
from carob.schema import Case, ModelCall, Score, Trace, Turn, Unscored
from carob.schema.scale import Scale

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATED = 10**17
"""Nanoseconds. What began before 1973 was timed, and not dated."""


@dataclass(frozen=True, kw_only=True)
class Cost(Metric):
    """What the model calls cost in US dollars, by the price table of `genai-prices`.

    Σ tokens · price over all calls, at the prices of the day of the call. Thoughts are billed as
    output, tool results as input, cached tokens at their own price. A model that the table does
    not know makes the trace unscored: there is no default price.
    """

    name: ClassVar[str] = "cost"
    version: ClassVar[int] = 1
    scale: ClassVar[Scale] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage", "models")
    imports: ClassVar[tuple[str, ...]] = ("genai_prices",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        by_model: dict[str, float] = {}
        turns: list[float | None] = []
        for turn in trace.turns:
            prices: list[float] = []
            for call in turn.model_calls:
                paid = _price(call, turn) if spent(call.usage) else 0.0
                if isinstance(paid, Unscored):
                    return paid
                prices.append(paid)
                if call.model and spent(call.usage):
                    by_model[call.model] = by_model.get(call.model, 0.0) + paid
            turns.append(sum(prices) if prices else None)
        if not by_model:
            return Unscored(reason="token usage was not recorded")
        return Score(
            value=sum(turn or 0.0 for turn in turns), turns=tuple(turns), details={**by_model}
        )


def _price(call: ModelCall, turn: Turn) -> float | Unscored:
    if not call.model:
        return Unscored(reason="a model call was recorded without the name of its model")
    if call.usage.input_tokens is None and call.usage.output_tokens is None:
        return Unscored(reason="only the total of tokens was recorded, not input and output")
    try:
        return _calculated(call, call.model, _time(call, turn))
    except LookupError:
        return Unscored(reason=f"no price is known for the model {call.model!r}")


def _calculated(call: ModelCall, model: str, time: datetime) -> float:
    usage = call.usage
    return price(
        model,
        call.provider,
        at=time,
        input_tokens=(usage.input_tokens or 0) + (usage.tool_tokens or 0),
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cached_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
    )


def _time(call: ModelCall, turn: Turn) -> datetime:
    nanoseconds = call.start if call.start is not None else turn.start
    if nanoseconds is None or nanoseconds < _DATED:
        return NEWEST
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
