from __future__ import annotations

import json

import pytest

from carob.metrics.usage.cost import Cost
from carob.metrics.usage.token_usage import CacheEfficiency, TokenUsage
from carob.schema import Case, Json, ModelCall, Score, Span, Trace, Turn, Usage
from carob.traces.conventions.adk import Adk
from carob.traces.conventions.claude_code import ClaudeCode
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.langfuse import Langfuse
from carob.traces.messages.usage import (
    correct_counts,
    gemini_usage_of,
    include_cached,
    usage_of,
)

ANTHROPIC: dict[str, Json] = {
    "input_tokens": 1000,
    "output_tokens": 2000,
    "cache_read_input_tokens": 5000,
    "cache_creation_input_tokens": 1000,
}
TOTAL = Usage(input_tokens=7000, output_tokens=2000, cached_tokens=5000, cache_write_tokens=1000)


def span(attributes: dict[str, Json]) -> Span:
    return Span(trace_id="t", span_id="s", name="claude_code.llm_request", attributes=attributes)


def usage(**counts: int) -> Usage | None:
    return usage_of({**counts})


def test_input_includes_the_cached_tokens_that_anthropic_reports_beside_it():
    assert usage_of(ANTHROPIC) == TOTAL


def test_few_cached_tokens_are_added_too():
    few = usage(input_tokens=1000, output_tokens=1, cache_read_input_tokens=10)
    assert few == Usage(input_tokens=1010, output_tokens=1, cached_tokens=10)


@pytest.mark.parametrize(
    "counts",
    [
        {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}},
        {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4}},
        {"input_tokens": 9, "input_token_details": {"cache_read": 4}},
        {"prompt_tokens": 9, "cache_read_input_tokens": 4},
        {"inputTokenCount": 9, "cachedInputTokenCount": 4},
    ],
)
def test_cached_tokens_of_other_providers_are_part_of_the_input(counts: dict[str, Json]):
    assert usage_of(counts) == Usage(input_tokens=9, cached_tokens=4)


@pytest.mark.parametrize(("total", "tokens"), [(15, 9), (19, 13), (None, 13), (99, 13)])
def test_total_shows_whether_cached_tokens_are_part_of_the_input(total: int | None, tokens: int):
    recorded = usage_of(
        {"inputTokens": 9, "outputTokens": 6, "cacheReadInputTokens": 4, "totalTokens": total}
    )
    assert recorded is not None
    assert recorded.input_tokens == tokens


def test_part_larger_than_its_whole_is_beside_it():
    assert include_cached(Usage(input_tokens=1, cached_tokens=2)).input_tokens == 3
    assert include_cached(Usage(input_tokens=2, cached_tokens=2)).input_tokens == 2
    assert include_cached(Usage(cached_tokens=2)) == Usage(cached_tokens=2)


def test_adk_counts_the_same_in_events_and_in_spans():
    counts: dict[str, Json] = {
        "prompt_token_count": 10,
        "candidates_token_count": 3,
        "cached_content_token_count": 40,
    }
    recorded = gemini_usage_of(counts)
    response = json.dumps({"usage_metadata": counts})
    attributes: dict[str, Json] = {
        "gcp.vertex.agent.llm_response": response,
        "gen_ai.usage.input_tokens": 10,
    }
    assert recorded == Adk().usage(span(attributes))
    assert recorded == Usage(input_tokens=50, output_tokens=3, cached_tokens=40)


def test_spans_of_anthropic_count_the_same():
    names = {
        "gen_ai.usage.input_tokens": 1000,
        "gen_ai.usage.output_tokens": 2000,
        "gen_ai.usage.cache_read_input_tokens": 5000,
        "gen_ai.usage.cache_creation_input_tokens": 1000,
    }
    assert GenAi().usage(span({**names})) == TOTAL


def test_claude_code_reports_cached_tokens_beside_the_input():
    counted = ClaudeCode().usage(span({"input_tokens": 10, "cache_read_tokens": 4}))
    assert counted == Usage(input_tokens=14, cached_tokens=4)


def test_langfuse_passes_on_the_counts_of_anthropic():
    details: Json = {"input": 10, "output": 3, "cache_read_input_tokens": 4, "total": 17}
    counted = Langfuse().usage(span({"langfuse.observation.usage_details": details}))
    assert (counted.input_tokens, counted.cached_tokens) == (14, 4)


def test_tokens_cost_and_cache_of_an_anthropic_call():
    pytest.importorskip("genai_prices")
    call = ModelCall(model="claude-sonnet-4-5", provider="anthropic", usage=TOTAL)
    case, trace = Case(id="c"), Trace(id="t", turns=(Turn(model_calls=(call,)),))
    tokens, cost = TokenUsage().score(case, trace), Cost().score(case, trace)
    cache = CacheEfficiency().score(case, trace)
    assert isinstance(tokens, Score)
    assert isinstance(cost, Score)
    assert isinstance(cache, Score)
    assert (tokens.value, cache.value) == (9000, 5000 / 7000)
    dollars = (1000 * 3 + 5000 * 0.3 + 1000 * 3.75 + 2000 * 15) / 1_000_000
    assert cost.value == pytest.approx(dollars)


def test_recorders_of_bedrock_count_cached_tokens_beside_the_input():
    counted = Usage(input_tokens=143, output_tokens=23, cached_tokens=64, total_tokens=166)
    corrected = correct_counts(counted, "opentelemetry.instrumentation.bedrock", beside=False)
    assert corrected == Usage(input_tokens=207, output_tokens=23, cached_tokens=64)
    assert correct_counts(counted, "other", beside=False) == counted


def test_output_without_thoughts_is_unknown_if_the_total_is_missing():
    scope = "opentelemetry.instrumentation.google_generativeai"
    counted = Usage(input_tokens=9, output_tokens=4)
    assert correct_counts(counted, scope, beside=False) == Usage(input_tokens=9)
