"""The `cost` metric, and prices of model calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

from carob.metrics.metric import Metric
from carob.metrics.needs import Need, has_usage
from carob.metrics.usage.token_usage import describe_missing_usage
from carob.schema import Case, ModelCall, Score, Trace, Turn, Unscored
from carob.schema.outcome import Scale

# Later than every date in the table, so that the newest prices apply. With the current time, two
# reports on one trace could differ.
NEWEST = datetime(9999, 1, 1, 12, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DATE = 10**17
"""Nanoseconds since 1970. An earlier start is a relative time, not a date."""


@dataclass(frozen=True, kw_only=True)
class Cost(Metric):
    """Cost of the model calls in US dollars, by the price table of `genai-prices`.

    Σ tokens · price over all calls, at the prices on the day of the call. Reasoning is billed as
    output, tool results as input, tokens read from the cache or written to it at their own prices.
    A trace with an unknown model is unscored: no default price is assumed.
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
                paid = _price(call, turn) if has_usage(call.usage) else 0.0
                if isinstance(paid, Unscored):
                    return paid
                prices.append(paid)
                if call.model and has_usage(call.usage):
                    by_model[call.model] = by_model.get(call.model, 0.0) + paid
            turns.append(sum(prices) if prices else None)
        if not by_model:
            return Unscored(reason="token usage was not recorded")
        return Score(
            value=sum(turn or 0.0 for turn in turns),
            reason=describe_missing_usage(trace.model_calls),
            turns=tuple(turns),
            details={**by_model},
        )


def _price(call: ModelCall, turn: Turn) -> float | Unscored:
    if not call.model:
        return Unscored(reason="a model call was recorded without a model name")
    if call.usage.input_tokens is None and call.usage.output_tokens is None:
        return Unscored(reason="only total tokens were recorded, not input and output")
    try:
        return _calculate(call, call.model, _time(call, turn))
    except LookupError:
        return Unscored(reason=f"no price is known for the model {call.model!r}")
    except ValueError as error:  # counts that contradict each other, such as more cached than input
        return Unscored(reason=f"the token counts of {call.model!r} have no price: {error}")


def _calculate(call: ModelCall, model: str, time: datetime) -> float:
    usage = call.usage
    return call_price(
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
    if nanoseconds is None or nanoseconds < _FIRST_DATE:
        return NEWEST
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)


def call_price(model: str, provider: str | None, *, at: datetime = NEWEST, **tokens: int) -> float:
    """Return the price of one call in US dollars. Raises `LookupError` for an unknown model."""
    import genai_prices  # late: optional, and its table loads slowly

    calculation = genai_prices.calc_price(
        genai_prices.Usage(**tokens),
        model,
        provider_id=provider if _is_provider(provider) else None,
        genai_request_timestamp=at,
    )
    return float(calculation.total_price)


def _is_provider(name: str | None) -> bool:
    """Tell whether the table has the provider; frameworks may record their own name instead."""
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    return name is not None and find_provider_by_id(get_snapshot().providers, name) is not None
