"""Token counts, under every provider's names, as `Usage`."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from carob.schema import Json, Usage
from carob.traces.shape import as_count, as_object, fold_key, fold_keys

_INPUT = ("inputtokens", "prompttokens", "inputtokencount", "prompttokencount")
_OUTPUT = ("outputtokens", "completiontokens", "outputtokencount")
_TOTAL = ("totaltokens", "totaltokencount")
_CACHED = (
    "cachereadinputtokens",
    "cachedtokens",
    "cachedinputtokens",
    "cachedinputtokencount",
    "cachedprompttokens",
    "cachereadtokens",
    "cacheread",
)
_CACHE_WRITE = (
    "cachecreationinputtokens",
    "cachewriteinputtokens",
    "cachewritetokens",
    "cachecreation",
    "cachewrite",
)
_GEMINI = ("gcp", "google", "gemini", "vertex")
"""How the names of providers begin that serve Gemini."""
_REASONING = (
    "reasoningtokens",
    "reasoningoutputtokens",
    "outputreasoningtokens",
    "reasoningtokencount",
    "reasoning",
)
_INPUT_DETAILS = ("prompttokensdetails", "inputtokensdetails", "inputtokendetails")
_OUTPUT_DETAILS = ("completiontokensdetails", "outputtokensdetails", "outputtokendetails")
_NAMES = (
    _INPUT,
    _OUTPUT,
    _TOTAL,
    _CACHED,
    _CACHE_WRITE,
    _REASONING,
    _INPUT_DETAILS,
    _OUTPUT_DETAILS,
)
_BESIDE = {"cachereadinputtokens", "cachecreationinputtokens", "cachewriteinputtokens"}
_WITHOUT_THOUGHTS = "opentelemetry.instrumentation.google_generativeai"
"""The scope of a recorder that does not count Gemini's thoughts."""
_BEDROCK = frozenset(
    (
        "opentelemetry.instrumentation.bedrock",
        "opentelemetry.instrumentation.botocore.bedrock-runtime",
    )
)
"""The scopes of recorders that pass on Bedrock's counts: cached tokens are not a part of the input,
nor of a total that is computed from it."""
_NO_USAGE = Usage()


def usage_of(value: Json) -> Usage | None:
    """Read the token counts of a model call from OpenAI, Anthropic, LangChain, CrewAI or .NET."""
    if not isinstance(value, dict) or not value:
        return None
    counts = _without_nulls(value)
    keys = _find_keys(tuple(counts))
    inputs = _with_details(counts, keys.input_details)
    outputs = _with_details(counts, keys.output_details)
    input_keys = keys if inputs is counts else _find_keys(tuple(inputs))
    output_keys = keys if outputs is counts else _find_keys(tuple(outputs))
    usage = Usage(
        as_count(counts.get(keys.input)),
        as_count(counts.get(keys.output)),
        as_count(inputs.get(input_keys.cached)),
        as_count(inputs.get(input_keys.cache_write)),
        as_count(outputs.get(output_keys.reasoning)),
        total_tokens=as_count(counts.get(keys.total)),
    )
    return None if usage == _NO_USAGE else include_cached(usage, beside=keys.beside)


def include_cached(usage: Usage, *, beside: bool = False) -> Usage:
    """Return the usage with cached tokens counted as input tokens.

    Anthropic and Bedrock report the tokens that they read from the cache or wrote to it beside the
    input tokens, everybody else as a part of them, and instrumentations pass on either. The counts
    themselves decide where they can: a part is not larger than the whole, and the total shows what
    was added up. `beside` decides where they cannot.
    """
    cached = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    tokens, total = usage.input_tokens, usage.total_tokens
    if not cached or tokens is None:
        return usage
    rest = tokens + (usage.output_tokens or 0) + (usage.tool_tokens or 0)
    if cached > tokens or total == rest + cached:
        beside = True
    elif total == rest:
        beside = False
    return msgspec.structs.replace(usage, input_tokens=tokens + cached) if beside else usage


def correct_counts(usage: Usage, scope: str, *, beside: bool) -> Usage:
    """Return the counts of a span as everybody counts, whatever its recorder leaves out."""
    if scope == _WITHOUT_THOUGHTS:
        usage = _drop_unclear_output(usage)
    if usage.cached_tokens is None and usage.cache_write_tokens is None:
        return usage
    return _add_cached(usage) if scope in _BEDROCK else include_cached(usage, beside=beside)


def _add_cached(usage: Usage) -> Usage:
    """Return the usage with cached tokens as input tokens that are known not to include them."""
    cached = (usage.cached_tokens or 0) + (usage.cache_write_tokens or 0)
    if not cached or usage.input_tokens is None:
        return usage
    tokens = usage.input_tokens + cached
    return msgspec.structs.replace(usage, input_tokens=tokens, total_tokens=None)


class _CountKeys(NamedTuple):
    """The keys of one object of counts; an empty one is missing."""

    input: str
    output: str
    total: str
    cached: str
    cache_write: str
    reasoning: str
    input_details: str
    output_details: str
    beside: bool
    """Whether these are the names of a provider that counts cached tokens beside the input."""


# A recorder writes the same keys for every call, so they are looked up once, not once per call.
@lru_cache(maxsize=512)
def _find_keys(keys: tuple[str, ...]) -> _CountKeys:
    folded = {fold_key(key): key for key in reversed(keys)}
    known_keys = (next((folded[name] for name in names if name in folded), "") for names in _NAMES)
    beside = folded.get("inputtokens") is not None and not _BESIDE.isdisjoint(folded)
    return _CountKeys(*known_keys, beside=beside)


def _without_nulls(value: dict[str, Json]) -> dict[str, Json]:
    return {key: number for key, number in value.items() if number is not None}


def _with_details(counts: dict[str, Json], key: str) -> dict[str, Json]:
    """The counts together with their details; of equal keys the count itself comes first."""
    details = counts.get(key)
    return counts | _without_nulls(details) | counts if isinstance(details, dict) else counts


def complete_usage(usage: Usage, other: Usage) -> Usage:
    """Return the counts with those that only the other one has."""
    pairs = zip(msgspec.structs.astuple(usage), msgspec.structs.astuple(other), strict=True)
    return Usage(*(count if count is not None else second for count, second in pairs))


def gemini_usage_of(value: Json) -> Usage | None:
    """Read the token counts of a Gemini call, whose candidates do not include the thoughts."""
    counts = fold_keys(as_object(value))
    thoughts = as_count(counts.get("thoughtstokencount"))
    candidates = as_count(counts.get("candidatestokencount"))
    output = (
        None if candidates is None and thoughts is None else (candidates or 0) + (thoughts or 0)
    )
    usage = Usage(
        input_tokens=as_count(counts.get("prompttokencount")),
        output_tokens=output,
        cached_tokens=as_count(counts.get("cachedcontenttokencount")),
        reasoning_tokens=thoughts,
        tool_tokens=as_count(counts.get("tooluseprompttokencount")),
        total_tokens=as_count(counts.get("totaltokencount")),
    )
    return None if usage == _NO_USAGE else include_cached(usage)


def include_thoughts(usage: Usage, provider: str | None) -> Usage:
    """Return the counts with Gemini's thoughts as output: some recorders leave them out, and only
    the total shows it."""
    total, inputs, outputs = usage.total_tokens, usage.input_tokens, usage.output_tokens
    if provider is None or not provider.lower().startswith(_GEMINI):
        return usage
    if total is None or inputs is None or outputs is None or total <= inputs + outputs:
        return usage
    return msgspec.structs.replace(usage, output_tokens=total - inputs)


def _drop_unclear_output(usage: Usage) -> Usage:
    """Return the counts of a recorder that leaves Gemini's thoughts out of the output, without that
    output if only the missing input or total would show how many there were."""
    if usage.total_tokens is not None and usage.input_tokens is not None:
        return usage
    return msgspec.structs.replace(usage, output_tokens=None)
