"""What each metric sees and what it cannot see; the reference shows it in one table."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """What a metric sees, and what it cannot see."""

    sees: str
    blind_to: str


JUDGED = Limits("what its rubric asks, by meaning", "what the judge model overlooks")
"""The limits of every metric that asks a model."""

OFFLINE = {
    "agent_handoffs": Limits("handovers in the trace", "whether they were needed"),
    "agent_routing": Limits("names of agents", "order, and superfluous agents"),
    "assertions": Limits("what each assertion names", "everything that none of them names"),
    "bleu": Limits("runs of equal words", "meaning: one wrong word hardly counts"),
    "cache_efficiency": Limits("recorded token counts", "caching that was not recorded"),
    "chrf": Limits("runs of equal characters", "meaning: one wrong word hardly counts"),
    "coherence": Limits(
        "form: repetitions, denials, texts that break off",
        "whether one thought follows from another; grammar of other languages than English",
    ),
    "completeness": Limits(
        "words, names and quantities of the expected response", "synonyms, and facts in other words"
    ),
    "conciseness": Limits("number of words", "whether the words are needed"),
    "consistency": Limits(
        "denials, opposites and other quantities in clauses that share words",
        "contradictions in other words",
    ),
    "contains": Limits("the required texts, literally", "paraphrases"),
    "context_saturation": Limits("recorded token counts", "the model's limit"),
    "contract": Limits("JSON and its schema", "whether the values are true"),
    "cost": Limits("recorded tokens and list prices", "discounts, and models without a price"),
    "exact_match": Limits("equal text", "paraphrases"),
    "factuality": Limits(
        "quantities in any notation, names, negations, opposites, words of the expected response",
        "swapped roles, synonyms, wrong plain words; number words of seven languages only",
    ),
    "grounding_utilization": Limits("retrieved chunks", "whether they were used"),
    "hallucination": Limits(
        "quantities, names and words that no source has; opposites and negations",
        "wrong use of known words; right statements in new words",
    ),
    "harm": Limits("English phrases and a list of words", "everything else, above all allusions"),
    "inference_call_count_v1": Limits("model calls in the trace", "whether they were needed"),
    "invocation_duration_v1": Limits("recorded times", "what caused them"),
    "latency": Limits("recorded times", "what caused them"),
    "output_density": Limits("recorded token counts", "whether the text was needed"),
    "pii_leak": Limits(
        "emails, phones, cards, bank accounts, national ids, secrets",
        "names, street addresses, health data",
    ),
    "regex": Limits("text that matches a pattern", "everything that the pattern does not say"),
    "relevance": Limits("words of the question or the expected response", "meaning, synonyms"),
    "response_match_score": Limits("equal words", "meaning: one wrong word hardly counts"),
    "rouge_l": Limits("equal words in order", "meaning: one wrong word hardly counts"),
    "safety": Limits("what `harm` and `pii_leak` see", "what neither of them sees"),
    "sandbox_usage": Limits("tool calls by name", "tools with other names"),
    "semantic_similarity": Limits("similar topics, by embeddings", "numbers, negations, opposites"),
    "state_management_fidelity": Limits("values of the final state", "states in between"),
    "thinking_metrics": Limits("recorded token counts", "whether reasoning helped"),
    "token_usage": Limits("recorded token counts", "calls without recorded usage"),
    "token_usage_v1": Limits("recorded token counts", "calls without recorded usage"),
    "tool_call_count_v1": Limits("tool calls in the trace", "whether they were needed"),
    "tool_success_rate": Limits("errors that tools report", "wrong results without an error"),
    "tool_trajectory_avg_score": Limits(
        "names and arguments of tool calls, in order", "other calls that serve as well"
    ),
    "tool_usage_accuracy": Limits(
        "names and arguments of tool calls", "other calls that serve as well"
    ),
    "tool_utilization": Limits("tool calls in the trace", "whether they were needed"),
    "trajectory_accuracy": Limits("names of agents and tools, in order", "what they did"),
}
