"""C601 to C603: expectations that are empty, that no agent would meet, or that the context does
not support."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.datasets.lint.rules import LintItem, RuleFamily, Violation, path_of, plain_text
from carob.schema import Case, LintRule
from carob.text.facts.clauses import split_sentences
from carob.text.facts.extract import as_spelled, extract_facts
from carob.text.facts.quantities import unmatched
from carob.text.facts.quantity_patterns import extract_quantities
from carob.text.language import guess_language
from carob.text.tokens import split_words

NO_EXPECTATION = LintRule(
    id="C601",
    name="no-expectation",
    level="warning",
    summary="A case expects nothing, or an empty answer.",
)
UNREALISTIC_EXPECTATION = LintRule(
    id="C602",
    name="unrealistic-expectation",
    level="warning",
    summary="An expected answer is a placeholder, a long checklist, or the question again.",
)
UNSUPPORTED_ANSWER = LintRule(
    id="C603",
    name="unsupported-answer",
    level="warning",
    summary="The context does not support the expected answer.",
)

_PLACEHOLDER = re.compile(
    r"\W*(?:t\.?b\.?d\.?|to ?do|fix ?me|x{3,}|\?{2,}|\.{3,}|…|n/?a|none|null|lorem ipsum\b.*"
    r"|(?:the )?(?:expected|correct|reference|golden|sample|example) (?:answer|output|response)"
    r"(?: (?:goes )?here)?|(?:insert|add|write|put|your) .{0,30}here|placeholder)\W*",
    re.IGNORECASE | re.DOTALL,
)
_STEP = re.compile(r"(?:^|(?<=\s))(?:step\s*)?(\d{1,2})[.:)]\s+", re.IGNORECASE)
_CHECKLIST_STEPS = 8
_TERSE = 4.0
"""Words per step: real instructions have more."""


class Expectations(RuleFamily):
    """Expectations that are missing or unrealistic."""

    rules = (NO_EXPECTATION, UNREALISTIC_EXPECTATION)

    def visit(self, item: LintItem) -> Iterator[Violation]:
        case = item.case
        if not _has_expectation(case):
            blank = any(turn.response is not None for turn in case.turns)
            message = "an empty answer is expected" if blank else "nothing is expected"
            hint = "add an expected answer or a tool call"
            yield Violation(NO_EXPECTATION, item.location, message, hint)
            return
        for turn in case.turns:
            reason = _unrealistic_because(turn.user or "", turn.response or "")
            if reason:
                path = path_of(item.doc, turn.response or "")
                hint = "write the answer that a good colleague would give"
                yield Violation(UNREALISTIC_EXPECTATION, item.location, reason, hint, path)


def _has_expectation(case: Case) -> bool:
    """Does the case state anything that a metric could compare a trace with?"""
    case_wide = (case.tool_calls, case.trajectory, case.state, case.contains)
    return (
        any(part is not None for part in case_wide)
        or bool(case.contract or case.reference or case.rubrics or case.scenario)
        or bool(case.goal or case.metrics)
        or any((turn.response or "").strip() or turn.rubrics for turn in case.turns)
        or any(turn.tool_calls is not None for turn in case.turns)
    )


def _unrealistic_because(user: str, response: str) -> str | None:
    if _PLACEHOLDER.fullmatch(response[:2000]):
        return f"the expected answer {response.strip()[:40]!r} is a placeholder"
    question, answer = plain_text(user), plain_text(response)
    if answer and question == answer and " " in question:
        return "the expected answer repeats the question"
    steps = len(_STEP.findall(response))
    if steps >= _CHECKLIST_STEPS and len(response.split()) <= steps * (_TERSE + 2):
        return f"the expected answer is a checklist of {steps} steps with hardly any content"
    return None


_WORD = re.compile(r"[^\W\d_]{4,}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CAPITALIZED = re.compile(r"(?<=\w[ ,;(])[^\W\d_a-zß-ÿ][^\W\d_]*")
_LABEL_WORDS = 6
"""A context with fewer words only names where the answer is, unless it is a sentence."""
_SENTENCE_WORDS = 5
_STEM = 5
_LEAST_SHARED = 0.15
"""Share of the answer's words; a good answer has many words of its own."""
_FEWEST_WORDS = 8
_SAME_STATEMENT = 0.75
"""Share of the words of a sentence that a sentence of the context has, too, if they are about the
same thing."""
_CAPITALIZES_NOUNS = frozenset({"de"})
"""Languages in which a capital letter does not tell a name from another noun."""


class UnsupportedAnswers(RuleFamily):
    """Answers that cannot come from the context of their case.

    The context must contain every number of the answer and some of its words, and must not say the
    same of another name. Two kinds of cases are not checked: an agent with tools may get the answer
    from them, and a context of a few words is a label.
    """

    rules = (UNSUPPORTED_ANSWER,)

    def visit(self, item: LintItem) -> Iterator[Violation]:
        case = item.case
        context = case.context
        if context is None or _is_label(context) or _has_tools(case):
            return
        for turn in case.turns:
            sources = f"{context}\n{case.relevant_context or ''}\n{turn.user or ''}"
            reason = _find_unsupported(turn.response or "", sources)
            if reason:
                hint = "add the part of the source that contains the answer"
                path = path_of(item.doc, context)
                yield Violation(UNSUPPORTED_ANSWER, item.location, reason, hint, path)


def _is_label(context: str) -> bool:
    is_sentence = context.rstrip().endswith((".", "!"))
    return len(context.split()) < (_SENTENCE_WORDS if is_sentence else _LABEL_WORDS)


def _has_tools(case: Case) -> bool:
    return bool(case.tools or case.tool_calls or any(turn.tool_calls for turn in case.turns))


def _find_unsupported(answer: str, sources: str) -> str | None:
    return (
        _find_other_numbers(answer, sources)
        or _find_other_names(answer, sources)
        or _find_other_topic(answer, sources)
    )


def _find_other_numbers(answer: str, sources: str) -> str | None:
    # Most numbers are spelled as in the context. Only the others are worth an extraction.
    if {*_NUMBER.findall(answer)} <= {*_NUMBER.findall(sources)}:
        return None
    language = guess_language(answer, sources)
    stated = extract_quantities(_STEP.sub(" ", answer), language).quantities
    absent = unmatched(stated, extract_quantities(sources, language).quantities)
    if not absent:
        return None
    texts = dict.fromkeys(_shorten(quantity.text.strip()) for quantity in absent[:5])
    return f"the context does not contain {', '.join(texts)} from the expected answer"


def _find_other_names(answer: str, sources: str) -> str | None:
    """Find a name that replaces one of the context: `The office is in Berlin`, not in Paris. A name
    that is only new may be right."""
    # Most answers have no capitalized word that the context lacks, and are done here.
    capitalized = {word.lower() for word in _CAPITALIZED.findall(answer)}
    if capitalized <= {*split_words(sources)}:
        return None
    language = guess_language(answer, sources)
    if language in _CAPITALIZES_NOUNS:
        return None
    known, stated = extract_facts(sources, language), extract_facts(answer, language)
    new = stated.names - known.topics - known.names - known.openers
    for sentence in split_sentences(answer) if new else ():
        facts = extract_facts(sentence, language)
        names, words = facts.names & new, facts.topics - new
        for other in split_sentences(sources) if names and words else ():
            source = extract_facts(other, language)
            replaced = (source.names | source.openers) - stated.topics - stated.names
            if replaced and len(words & source.topics) >= _SAME_STATEMENT * len(words):
                expected = ", ".join(as_spelled(replaced, other))
                found = ", ".join(as_spelled(names, sentence))
                return f"the expected answer says {found}, the context {expected}"
    return None


def _find_other_topic(answer: str, sources: str) -> str | None:
    words = {word[:_STEM] for word in _WORD.findall(answer.casefold())}
    stems = {word[:_STEM] for word in _WORD.findall(sources.casefold())}
    if len(words) >= _FEWEST_WORDS and len(words & stems) < _LEAST_SHARED * len(words):
        return "the context and the expected answer have hardly any words in common"
    return None


def _shorten(quantity: str) -> str:
    # A long number may be a phone or account number, which a report must not repeat.
    digits = sum(char.isdigit() for char in quantity)
    return quantity if digits <= 6 else f"{quantity[:2]}…{quantity[-2:]}"
