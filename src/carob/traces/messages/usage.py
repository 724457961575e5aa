"""Token counts, under every provider's names, as `Usage`."""

from __future__ import annotations

from carob.schema import Json, Usage
from carob.traces.shape import count, first, fold_keys, table

_INPUT = ("inputtokens", "prompttokens", "inputtokencount", "prompttokencount")
_OUTPUT = ("outputtokens", "completiontokens", "outputtokencount")
_TOTAL = ("totaltokens", "totaltokencount")
_CACHED = (
    "cachereadinputtokens",
    "cachedtokens",
    "cachedinputtokens",
    "cachedinputtokencount",
    "cachedprompttokens",
)
_CACHE_WRITE = ("cachecreationinputtokens", "cachewriteinputtokens")
_REASONING = ("reasoningtokens", "reasoningoutputtokens", "reasoningtokencount")
_INPUT_DETAILS = ("prompttokensdetails", "inputtokensdetails", "inputtokendetails")
_OUTPUT_DETAILS = ("completiontokensdetails", "outputtokensdetails", "outputtokendetails")


def usage_of(value: Json) -> Usage | None:
    """Read the token counts of a model call from OpenAI, Anthropic, LangChain, CrewAI or .NET."""
    counts = fold_keys(table(value))
    inputs = fold_keys(table(first(counts, *_INPUT_DETAILS)))
    outputs = fold_keys(table(first(counts, *_OUTPUT_DETAILS)))
    usage = Usage(
        input_tokens=count(first(counts, *_INPUT)),
        output_tokens=count(first(counts, *_OUTPUT)),
        cached_tokens=count(first(inputs | counts, *_CACHED, "cacheread")),
        cache_write_tokens=count(
            first(inputs | counts, *_CACHE_WRITE, "cachecreation", "cachewrite")
        ),
        reasoning_tokens=count(first(outputs | counts, *_REASONING, "reasoning")),
        total_tokens=count(first(counts, *_TOTAL)),
    )
    return None if usage == Usage() else usage


def gemini_usage_of(value: Json) -> Usage | None:
    """Read the token counts of a Gemini call, whose candidates do not include the thoughts."""
    counts = fold_keys(table(value))
    thoughts = count(counts.get("thoughtstokencount"))
    candidates = count(counts.get("candidatestokencount"))
    output = (
        None if candidates is None and thoughts is None else (candidates or 0) + (thoughts or 0)
    )
    usage = Usage(
        input_tokens=count(counts.get("prompttokencount")),
        output_tokens=output,
        cached_tokens=count(counts.get("cachedcontenttokencount")),
        reasoning_tokens=thoughts,
        tool_tokens=count(counts.get("tooluseprompttokencount")),
        total_tokens=count(counts.get("totaltokencount")),
    )
    return None if usage == Usage() else usage
