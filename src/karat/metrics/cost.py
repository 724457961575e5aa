from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Literal

from karat.metrics.metric import Metric
from karat.metrics.needs import Need, spent
from karat.schema import Case, ModelCall, Score, Trace, Turn, Unscored

# For calls without a time: a day after every date in the table, so that its newest prices hold.
# The time of writing a report would make two reports of one recording differ.
_NEWEST = datetime(9999, 1, 1, 12, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Cost(Metric):
    """What the model calls cost in US dollars, by the price table of `genai-prices`.

    Σ tokens · price over all calls, at the prices of the day of the call. Thoughts are billed as
    output, tool results as input, cached tokens at their own price. A model that the table does
    not know makes the trace unscored: there is no default price.
    """

    name: ClassVar[str] = "cost"
    version: ClassVar[int] = 1
    scale: ClassVar[tuple[float, float | None]] = (0.0, None)
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs: ClassVar[tuple[Need, ...]] = ("usage", "models")
    imports: ClassVar[tuple[str, ...]] = ("genai_prices",)

    def score(self, case: Case, trace: Trace) -> Score | Unscored:
        by_model: dict[str, float] = {}
        turns: list[float | None] = []
        for turn in trace.turns:
            prices: list[float] = []
            for call in turn.model_calls:
                price = _price(call, turn) if spent(call.usage) else 0.0
                if isinstance(price, Unscored):
                    return price
                prices.append(price)
                if call.model and spent(call.usage):
                    by_model[call.model] = by_model.get(call.model, 0.0) + price
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
    import genai_prices  # optional, and its table takes a while to load

    usage = call.usage
    counts = genai_prices.Usage(
        input_tokens=(usage.input_tokens or 0) + (usage.tool_tokens or 0),
        output_tokens=usage.output_tokens or 0,
        cache_read_tokens=usage.cached_tokens or 0,
        cache_write_tokens=usage.cache_write_tokens or 0,
    )
    provider = call.provider if _is_provider(call.provider) else None
    price = genai_prices.calc_price(
        counts, model, provider_id=provider, genai_request_timestamp=time
    )
    return float(price.total_price)


def _is_provider(name: str | None) -> bool:
    """Whether the table knows it; frameworks also put their own names there."""
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    return name is not None and find_provider_by_id(get_snapshot().providers, name) is not None


def _time(call: ModelCall, turn: Turn) -> datetime:
    nanoseconds = call.start if call.start is not None else turn.start
    if nanoseconds is None:
        return _NEWEST
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
