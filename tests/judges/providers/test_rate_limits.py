from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carob.judges.model import RateLimit
from carob.judges.providers.rate_limits import parse_seconds, read_rate_limit, read_retry_after


@pytest.mark.parametrize(
    ("text", "wait"),
    [
        ("20", 20),
        ("0.25", 0.25),
        (" 3 ", 3),
        ("-4", 0),
        ("0s", 0),
        ("120ms", 0.12),
        ("6m0s", 360),
        ("1h2m3.5s", 3723.5),
        ("2d", 172800),
        ("nan", None),
        ("inf", None),
        ("1 s", None),
        ("5 apples", None),
        ("", None),
        ("9" * 65, None),
        (None, None),
    ],
)
def test_wait_is_parsed_in_every_notation(text: str | None, wait: float | None):
    assert parse_seconds(text) == (wait if wait is None else pytest.approx(wait))


def test_date_is_a_wait_from_now():
    soon = datetime.now(UTC) + timedelta(seconds=60)
    texts = (
        format_datetime(soon, usegmt=True),
        soon.isoformat(),
        soon.strftime("%Y-%m-%dT%H:%M:%SZ"),
        soon.replace(tzinfo=None).isoformat(),
    )
    assert [parse_seconds(text) for text in texts] == [pytest.approx(60, abs=3)] * len(texts)


def test_date_in_the_past_means_no_wait():
    assert parse_seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0


@given(st.text(alphabet=st.characters(codec="utf-8")), st.text())
def test_any_header_value_is_tolerated(first: str, second: str):
    headers = {
        "retry-after": first,
        "retry-after-ms": second,
        "x-ratelimit-remaining-tokens": first,
        "x-ratelimit-limit-tokens": second,
        "x-ratelimit-reset-tokens": first,
    }
    wait = read_retry_after(headers)
    assert wait is None or wait >= 0
    read_rate_limit(headers)


@pytest.mark.parametrize(
    ("headers", "remaining"),
    [
        ({}, None),
        ({"x-ratelimit-remaining-requests": "nonsense"}, None),
        ({"x-ratelimit-remaining-requests": "7"}, RateLimit(requests=7)),
        (
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"},
            RateLimit(requests=0, reset=1),
        ),
        (
            {"anthropic-ratelimit-tokens-remaining": "9", "anthropic-ratelimit-tokens-reset": "3"},
            RateLimit(tokens=9, reset=3),
        ),
        (
            {
                "x-ratelimit-remaining-requests": "5",
                "x-ratelimit-reset-requests": "10s",
                "x-ratelimit-remaining-tokens": "5",
                "x-ratelimit-reset-tokens": "20s",
            },
            RateLimit(requests=5, tokens=5, reset=20),
        ),
    ],
    ids=["nothing", "nonsense", "no reset", "openai", "anthropic", "the later if not known"],
)
def test_remaining_quota_is_read_in_both_styles(
    headers: Mapping[str, str], remaining: RateLimit | None
):
    assert read_rate_limit(headers) == remaining


def test_reset_is_that_of_the_quota_closer_to_exhaustion():
    headers = {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "1",
        "x-ratelimit-reset-requests": "2s",
        "x-ratelimit-limit-tokens": "100",
        "x-ratelimit-remaining-tokens": "90",
        "x-ratelimit-reset-tokens": "50s",
    }
    assert read_rate_limit(headers) == RateLimit(requests=1, tokens=90, reset=2)
