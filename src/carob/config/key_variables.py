"""Environment variables that a config may name as the key of a judge or of a live agent.

A config decides where a key is sent. Without this list, one careless `carob trust` would be enough
to send `AWS_SECRET_ACCESS_KEY` or `GITHUB_TOKEN` there.
"""

from __future__ import annotations

import re

_OPENAI_COMPATIBLE = (
    "OPENAI|AZURE_OPENAI|CEREBRAS|COHERE|DEEPINFRA|DEEPSEEK|FIREWORKS|GROQ|LITELLM|MISTRAL"
    "|OPENROUTER|PERPLEXITY|TOGETHER|XAI"
)
_PATTERNS = {
    "openai": rf"({_OPENAI_COMPATIBLE})_\w+",
    "azure": r"AZURE_OPENAI_\w+",
    "anthropic": r"ANTHROPIC_\w+",
    # Not GOOGLE_*: GOOGLE_APPLICATION_CREDENTIALS opens everything else at Google.
    "google": r"GEMINI_\w+|GOOGLE_API_KEY\w*|GOOGLE_(GEMINI|GENAI)_\w+",
    "bedrock": r"AWS_BEARER_TOKEN_BEDROCK",
    "ollama": r"OLLAMA_\w+",
    "vllm": r"VLLM_\w+",
}
_ANY_PROVIDER = r"CAROB_\w+"
_TARGET = r"(\w+_)?(AGENT|TARGET)_\w+"


def is_key_variable(name: str, model: str | None) -> bool:
    """Whether an environment variable may hold the key of a model; without a model, of any
    built-in provider. A provider of a plugin has the variables that begin with its name."""
    patterns = [_ANY_PROVIDER, *_provider_patterns(model)]
    return any(re.fullmatch(pattern, name, re.ASCII) for pattern in patterns)


def is_target_variable(name: str) -> bool:
    """Whether an environment variable may hold the key of a live agent: that of a model provider,
    or one that is named after an agent, such as `SHOP_AGENT_TOKEN`."""
    return is_key_variable(name, None) or re.fullmatch(_TARGET, name, re.ASCII) is not None


def _provider_patterns(model: str | None) -> list[str]:
    if not model:
        return [*_PATTERNS.values()]
    provider = model.partition(":")[0]
    own_prefix = re.sub(r"\W", "_", provider.upper(), flags=re.ASCII)
    return [_PATTERNS.get(provider, rf"{re.escape(own_prefix)}_\w+")]
