"""What tokens cost, by the table that `genai-prices` ships and that is read offline."""

from __future__ import annotations

from datetime import UTC, datetime

# A day after every date in the table, so that its newest prices hold. The time of writing a report
# would make two reports of one recording differ.
NEWEST = datetime(9999, 1, 1, 12, tzinfo=UTC)


def price(model: str, provider: str | None, *, at: datetime = NEWEST, **tokens: int) -> float:
    """US dollars for one call, or `LookupError` if the table does not know the model."""
    import genai_prices  # optional, and its table takes a while to load

    found = genai_prices.calc_price(
        genai_prices.Usage(**tokens),
        model,
        provider_id=provider if _is_provider(provider) else None,
        genai_request_timestamp=at,
    )
    return float(found.total_price)


def _is_provider(name: str | None) -> bool:
    """Whether the table knows it; frameworks also put their own names there."""
    from genai_prices.data_snapshot import find_provider_by_id, get_snapshot

    return name is not None and find_provider_by_id(get_snapshot().providers, name) is not None
