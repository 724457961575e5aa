"""Token counts under the names of the providers → `Usage`."""

from __future__ import annotations

from carob.schema import Json, Usage
from carob.traces.shape import count, first, folded, table

_INPUT = ("inputtokens", "prompttokens", "inputtokencount", "prompttokencount")
_OUTPUT = ("outputtokens", "completiontokens", "outputtokencount")
_TOTAL = ("totaltokens", "totaltokencount")
_CACHED = ("cachereadinputtokens", "cachedtokens", "cachedinputtokens", "cachedinputtokencount")
_WRITTEN = ("cachecreationinputtokens", "cachewriteinputtokens")
_REASONING = ("reasoningtokens", "reasoningoutputtokens", "reasoningtokencount")
_INPUT_DETAILS = ("prompttokensdetails", "inputtokensdetails", "inputtokendetails")
_OUTPUT_DETAILS = ("completiontokensdetails", "outputtokensdetails", "outputtokendetails")


def usage_of(value: Json) -> Usage | None:
    """The counts of one model call as OpenAI, Anthropic, LangChain or .NET name them."""
    held = folded(table(value))
    inner = folded(table(first(held, *_INPUT_DETAILS)))
    outer = folded(table(first(held, *_OUTPUT_DETAILS)))
    usage = Usage(
        input_tokens=count(first(held, *_INPUT)),
        output_tokens=count(first(held, *_OUTPUT)),
        cached_tokens=count(first(inner | held, *_CACHED, "cacheread")),
        cache_write_tokens=count(first(inner | held, *_WRITTEN, "cachecreation", "cachewrite")),
        reasoning_tokens=count(first(outer | held, *_REASONING, "reasoning")),
        total_tokens=count(first(held, *_TOTAL)),
    )
    return None if usage == Usage() else usage


def gemini_usage_of(value: Json) -> Usage | None:
    """The counts of one model call as Gemini names them, where thoughts are not candidates."""
    held = folded(table(value))
    thoughts = count(held.get("thoughtstokencount"))
    candidates = count(held.get("candidatestokencount"))
    output = (
        None if candidates is None and thoughts is None else (candidates or 0) + (thoughts or 0)
    )
    usage = Usage(
        input_tokens=count(held.get("prompttokencount")),
        output_tokens=output,
        cached_tokens=count(held.get("cachedcontenttokencount")),
        reasoning_tokens=thoughts,
        tool_tokens=count(held.get("tooluseprompttokencount")),
        total_tokens=count(held.get("totaltokencount")),
    )
    return None if usage == Usage() else usage
