"""Questions about documents by a model: answers first, then the question, then the check that the
passage alone answers it.

An answer is copied from the passage, so that it is right by construction. A question is kept if it
does not give the answer away, and if enough samples find that answer in the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, NamedTuple

from msgspec import Meta

from carob.schema import Case, Struct, Turn
from carob.synth.writer import CaseWriter, NotKeptError
from carob.text.tokens import tokenize

MAX_PASSAGE = 2000
"""Characters of a passage; a longer paragraph is cut at a sentence."""
_MIN_PASSAGE = 40
_FACTS = """\
List up to {number} facts of the passage that a person could ask an assistant for: a number, a name,
a date, a place, a condition. Copy each literally from the passage, in as few words as possible."""
_QUESTION = """\
Write the question of a person who does not know the passage and wants to know the given fact. The
fact must be the complete answer. Do not mention the passage, and do not give the answer away."""
_ANSWER = """\
Answer the question from the passage alone, in as few words as possible, copied from the passage. If
the passage does not answer it, or allows more than one answer, it is not answerable."""


class PassageFacts(Struct, frozen=True):
    """What a passage states."""

    facts: Annotated[list[str], Meta(max_length=50)]


class WrittenQuestion(Struct, frozen=True):
    """A question about a fact."""

    question: str


class PassageAnswer(Struct, frozen=True):
    """What a passage answers."""

    answerable: bool
    answer: str


class Passage(NamedTuple):
    """A part of a document."""

    document: str
    number: int
    text: str


def split_passages(document: str, text: str) -> Iterator[Passage]:
    """Divide a document at blank lines into passages that fit into a question. A heading stays with
    what follows it."""
    parts: list[str] = []
    number, size = 0, 0
    for paragraph in _paragraphs(text):
        if parts and size + len(paragraph) > MAX_PASSAGE:
            number += 1
            yield Passage(document, number, "\n\n".join(parts))
            parts, size = [], 0
        parts.append(paragraph)
        size += len(paragraph) + 2
    if parts and size >= _MIN_PASSAGE:
        yield Passage(document, number + 1, "\n\n".join(parts))


def _paragraphs(text: str) -> Iterator[str]:
    for block in re.split(r"\n\s*\n", text):
        paragraph = block.strip()
        while len(paragraph) > MAX_PASSAGE:
            end = max(paragraph.rfind(mark, 0, MAX_PASSAGE) + 1 for mark in (". ", "\n", " "))
            cut = end or MAX_PASSAGE
            yield paragraph[:cut].strip()
            paragraph = paragraph[cut:].strip()
        if paragraph:
            yield paragraph


async def find_facts(passage: Passage, writer: CaseWriter, number: int) -> list[str]:
    """Choose what will be asked: texts that occur in the passage, each once. Raises `NotKeptError`
    if the model does not answer."""
    instructions = _FACTS.format(number=number)
    written = await writer.write(instructions, _fence("passage", passage.text), PassageFacts)
    facts: dict[str, str] = {}
    text = _squeeze(passage.text)
    for fact in written.facts:
        squeezed = _squeeze(fact).strip(" .,;:")
        # Whole words, and whole numbers: 19 is neither a fact of 2019 nor of 19.50.
        literal = rf"(?<!\w)(?<!\d[.,]){re.escape(squeezed)}(?!\w)(?![.,]\d)"
        if tokenize(squeezed) and re.search(literal, text):
            facts.setdefault(squeezed, fact.strip(" .,;:\n"))
    return list(facts.values())[:number]


async def ask_about(fact: str, passage: Passage, writer: CaseWriter) -> Case:
    """Write a case that asks for a fact. Raises `NotKeptError`."""
    prompt = f"{_fence('passage', passage.text)}\n{_fence('fact', fact)}"
    question = (await writer.write(_QUESTION, prompt, WrittenQuestion)).question.strip()
    if not question:
        raise NotKeptError("no answer of the model")
    if _contains(question, fact):
        raise NotKeptError("the question contains the answer")

    async def vote(sample: int) -> bool:
        prompt = f"{_fence('passage', passage.text)}\n{_fence('question', question)}"
        answer = await writer.ask(_ANSWER, prompt, PassageAnswer, sample)
        # The few words of the fact, with no other number: "5 to 7" is not "5".
        return answer is not None and answer.answerable and _same_answer(answer.answer, fact)

    await writer.check(vote)
    case = Case(
        id="", context=passage.text, turns=(Turn(user=question, response=fact),), contains=(fact,)
    )
    return writer.with_lineage(
        case,
        relation="document_question",
        prompts=_FACTS + _QUESTION + _ANSWER,
        document=passage.document,
        passage=passage.number,
    )


def _same_answer(answer: str, fact: str) -> bool:
    if not _contains(answer, fact) and not _contains(fact, answer):
        return False
    numbers = re.compile(r"\d+(?:[.,]\d+)*")
    return sorted(numbers.findall(answer)) == sorted(numbers.findall(fact))


def _contains(text: str, part: str) -> bool:
    """Whether the words of a part follow each other in a text, whatever their endings and case."""
    words, phrase = tokenize(text), tokenize(part)
    starts = range(len(words) - len(phrase) + 1)
    return bool(phrase) and any(words[at : at + len(phrase)] == phrase for at in starts)


def _squeeze(text: str) -> str:
    return " ".join(text.casefold().split())


def _fence(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"
