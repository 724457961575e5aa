"""API keys, tokens, private keys and passwords."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from carob.text.sensitive.match import SensitiveMatch

# Only words long enough for a key are searched, and long words in parts: some of the library's
# patterns take quadratic time.
_WORD = re.compile(r"[\w+/=.:~-]{16,}")
_PART, _OVERLAP = 1500, 500
_TAIL = re.compile(r"[\w+/=.~-]{0,2000}")
_PASSWORD = re.compile(r"://[^\s:/@]{1,64}:([^\s/@<]{3,128})@")
# The library finds only the first line of a private key; the secret comes after it.
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"(?:[^-]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}-----)?"
    r"|PuTTY-User-Key-File-\d[^\n]*(?:\n[^\n]+)*"
)
# The quoted key has no form of its own, so the words before it must say what it is.
_AWS_SECRET = re.compile(
    r"aws.{0,20}?(?:key|pwd|pw|password|pass|token).{0,20}?['\"]([0-9a-z/+]{40})['\"]",
    re.IGNORECASE,
)
# Keys of model providers that the library does not know.
_MODEL_KEY = re.compile(
    r"(?<![\w-])(?:sk-(?:ant|proj|or|svcacct)-[\w-]{20,}|AIza[\w-]{35}|hf_[A-Za-z]{34}"
    r"|gsk_\w{40,}|xai-\w{40,})(?![\w-])"
)

# A password has no form of its own: `password is expired` has none, `password is hunter2` has one.
_LABEL = re.compile(
    r"\b(?:pass(?:word|code|phrase|wort)|kennwort|mot de passe|contrase[nñ]a|senha|wachtwoord"
    r"|has[łl]o|parola|pwd|pw)\b\s{0,3}"
    r"(?P<sign>[:=]|(?:is|was|ist|war|lautet|est|es|é|è)\b(?:\s{0,2}:)?)\s{0,3}"
    r"(?P<quote>[\"'`“„«]?)(?P<value>[^\s\"'`”“»]{4,64})(?P<end>[\"'`”“»]|\s*(?:[\n,;)]|\.?\s*\Z))?",
    re.IGNORECASE,
)
_LABEL_HINTS = ("pass", "pw", "kenn", "contras", "senha", "wacht", "has", "parola")
_NO_PASSWORD = re.compile(
    r"[<{\[$%(].*|[*•.xX_-]+|\D*pass\D*|.*(?:://|@[\w-]+\.).*|(?:base|sha|md|utf|aes|argon)-?\d.*"
    r"|[^\W\d_]+(?:ed|en|ing|able|ible|ive|al|ory|ful|less|t)|.*'.*"
    r"|here|below|above|optional|null|none|true|false|secure|safe|weak|wrong|unique|yours?|same"
    r"|private|geheim|falsch|sicher|richtig|hier|oblig\w+|sensi\w+|secr[eè]te?|requ\w+|expir\w+"
    r"|incorrect\w*|segur[ao]|oubli\w*|olvid\w*|minimum|maximum",
    re.IGNORECASE | re.DOTALL,
)
_SYMBOL = re.compile(r"[!@#$%^&*+=~?]")


def secrets(text: str) -> Iterator[SensitiveMatch]:
    """Find keys and tokens by their issuers' patterns, private keys, and passwords that are in URLs
    or called so."""
    yield from _find_labelled_passwords(text)
    if "://" in text:
        for match in _PASSWORD.finditer(text):
            yield _secret(match.start(1), match[1])
    if "-----BEGIN" in text or "PuTTY-User-Key-File" in text:
        for match in _PRIVATE_KEY.finditer(text):
            yield _secret(match.start(), match[0])
    for match in _AWS_SECRET.finditer(text):
        yield _secret(match.start(1), match[1])
    for word in _WORD.finditer(text):
        for start in range(word.start(), word.end(), _PART):
            yield from _find_keys(text, start, min(start + _PART + _OVERLAP, word.end()))


def _find_labelled_passwords(text: str) -> Iterator[SensitiveMatch]:
    lower = text.lower()
    if not any(hint in lower for hint in _LABEL_HINTS):
        return
    for match in _LABEL.finditer(text):
        value = match["value"].rstrip(".,;:)")
        if len(value) >= 4 and not _NO_PASSWORD.fullmatch(value) and _is_password(value, match):
            yield _secret(match.start("value"), value)


def _is_password(value: str, match: re.Match[str]) -> bool:
    """Whether a value looks like a password. A plain word does only if it is quoted, or alone after
    a sign."""
    letters = any(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    if (letters and digits) or digits >= 6 or (letters and _SYMBOL.search(value[:-1])):
        return len(value) >= 6
    ends = match["end"] is not None or match["value"][-1] in ",;)"
    return value.isalpha() and ends and (match["sign"] in (":", "=") or bool(match["quote"]))


def _find_keys(text: str, start: int, end: int) -> Iterator[SensitiveMatch]:
    part = text[start:end]
    for pattern in (_MODEL_KEY, *_issuer_patterns()):
        for match in pattern.finditer(part):
            first, last = match.span()
            # The pattern for JSON web tokens stops before the signature.
            tail = _TAIL.match(text, start + last)
            yield _secret(start + first, text[start + first : tail.end() if tail else start + last])


def _secret(start: int, text: str) -> SensitiveMatch:
    stripped = text.rstrip(".")
    return SensitiveMatch("secret", start, stripped, stripped)


@lru_cache(maxsize=1)
def _issuer_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns of the library."""
    from detect_secrets.plugins.aws import AWSKeyDetector
    from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
    from detect_secrets.plugins.discord import DiscordBotTokenDetector
    from detect_secrets.plugins.github_token import GitHubTokenDetector
    from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
    from detect_secrets.plugins.jwt import JwtTokenDetector
    from detect_secrets.plugins.openai import OpenAIDetector
    from detect_secrets.plugins.pypi_token import PypiTokenDetector
    from detect_secrets.plugins.sendgrid import SendGridDetector
    from detect_secrets.plugins.slack import SlackDetector
    from detect_secrets.plugins.stripe import StripeDetector
    from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector

    detectors: tuple[Any, ...] = (  # the library types its patterns as abstract
        AWSKeyDetector,
        AzureStorageKeyDetector,
        DiscordBotTokenDetector,
        GitHubTokenDetector,
        GitLabTokenDetector,
        JwtTokenDetector,
        OpenAIDetector,
        PypiTokenDetector,
        SendGridDetector,
        SlackDetector,
        StripeDetector,
        TelegramBotTokenDetector,
    )
    return tuple(pattern for detector in detectors for pattern in detector.denylist)
