"""Other wordings of the same message: typos, casing, punctuation, filler words."""

from __future__ import annotations

import re
from collections.abc import Callable

from carob.schema import Case
from carob.synth.literals import protected_words, replace_messages
from carob.synth.relation import Draw, Relation, Variant
from carob.synth.world import World
from carob.text.language import guess_language
from carob.text.vocabulary import word_list

_TOKEN = re.compile(r"\S+")
_PLAIN_WORD = re.compile(r"(?<![\w@./'-])[a-z]{6,}(?![\w@/'-])")
_EDGE = ".,;:!?()\"'"
_WORDS_PER_TYPO = 8
_NEIGHBOURS = {
    letter: "".join(row[i] for i in (at - 1, at + 1) if 0 <= i < len(row))
    for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm")
    for at, letter in enumerate(row)
}
# A typo in one of these can change what is asked.
_DECISIVE = word_list("""
    without except before after unless instead neither either another nothing never eleven twelve
    thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty fifty hundred
    thousand million minute minutes hours weeks months double single return cancel
""")
_ASKS = re.compile(
    r"(?i)(what|when|where|who|which|why|how|can|could|do|does|is|are|will|would|should|may)\b"
)
_STARTS = word_list("""
    a an are at can could do does for how if is it my please the there what when where which who why
    will would you
""")
_OPENINGS = ("Hi, ", "Hello, ", "Hey there, ", "Good morning, ", "Um, ", "So, ", "Quick question: ")
_CLOSINGS = (" Thanks!", " Thank you.", " Cheers.", " Thanks in advance.")


def _vary_messages(
    rewrite: Callable[[str, Case, Draw, World], str],
) -> Callable[[Case, Draw, World], Variant | None]:
    def vary(case: Case, draw: Draw, world: World) -> Variant | None:
        messages = [turn.user or "" for turn in case.turns]
        rewritten = [rewrite(message, case, draw, world) for message in messages]
        return None if rewritten == messages else Variant(replace_messages(case, rewritten))

    return vary


def _add_typos(message: str, case: Case, draw: Draw, world: World) -> str:
    protected = protected_words(case) | _DECISIVE
    words = [word for word in _PLAIN_WORD.finditer(message) if word[0] not in protected]
    number = 1 + len(message.split()) // _WORDS_PER_TYPO
    # From the end, so that the positions of earlier words stay right.
    for word in sorted(draw.order(words)[:number], key=lambda word: -word.start()):
        typo = _mistype(word[0], draw)
        if typo not in world.words:  # it would be another word of this domain
            message = message[: word.start()] + typo + message[word.end() :]
    return message


def _mistype(word: str, draw: Draw) -> str:
    """The word with one slip inside; readers recognize words by their first and last letters."""
    at = 1 + draw.index(len(word) - 3)
    slip = draw.index(4)
    if slip == 0:
        return word[:at] + draw.pick(_NEIGHBOURS[word[at]]) + word[at + 1 :]
    if slip == 1:
        return word[:at] + word[at] + word[at:]
    if slip == 2:
        return word[:at] + word[at + 1 :]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _change_case(message: str, case: Case, draw: Draw, _world: World) -> str:
    protected = protected_words(case)
    change = draw.pick((str.lower, str.upper))
    if any(token.strip(_EDGE).casefold() in protected for token in message.split()):
        change = str.lower  # capitals around a word that stays would look like emphasis

    def recase(token: re.Match[str]) -> str:
        word = token[0].strip(_EDGE)
        is_code = not word.isalpha() or (word.isupper() and len(word) > 1)
        return token[0] if is_code or word.casefold() in protected else change(token[0])

    return _TOKEN.sub(recase, message)


def _change_punctuation(message: str, _case: Case, draw: Draw, _world: World) -> str:
    bare = message.rstrip()
    if bare[-1:] not in {"?", ".", "!"}:
        return message
    repeated = bare + bare[-1] * 2
    # "You are open on Sunday?" is a question by its mark alone.
    is_safe = bare[-1] != "?" or _ASKS.match(re.split(r"(?<=[.!?])\s+", bare)[-1])
    return draw.pick((repeated, bare[:-1])) if is_safe else repeated


def _add_filler(message: str, case: Case, draw: Draw, _world: World) -> str:
    if not message or guess_language(message) != "en":
        return message
    if message != case.turns[0].user or draw.index(2):
        return message.rstrip() + draw.pick(_CLOSINGS)
    first = message.split()[0]
    start = first.lower() if first.lower() in _STARTS else first
    return draw.pick(_OPENINGS) + start + message[len(first) :]


RELATIONS = (
    Relation(
        "typos", "same", "Misspells words by slips of the keyboard.", _vary_messages(_add_typos)
    ),
    Relation(
        "casing", "same", "Writes messages in lower or upper case.", _vary_messages(_change_case)
    ),
    Relation(
        "punctuation",
        "same",
        "Drops or repeats the last mark.",
        _vary_messages(_change_punctuation),
    ),
    Relation("filler", "same", "Adds greetings, thanks and fillers.", _vary_messages(_add_filler)),
)
