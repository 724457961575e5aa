"""Find text in the material that looks like a prompt injection against the judge.

This only flags: the fence separates the instructions from the material, and a flag never changes a
score. Phrases are matched as a reader sees them, whatever characters they are written with. The
labelled texts in the tests measure how well this works. All quantifiers in the patterns are bounded,
because the texts are untrusted.
"""

# ruff: noqa: E501, ISC004 - phrases are split where their parts end

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

_MAX_QUOTED = 5
_WIDTH = 80
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Invisible tag characters, each of which stands for an ASCII character."""
_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухѕіјԁԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεινορτυχϲıɡ",
    "ABEKMHOPCTYXSIJaeopcyxsijdqwhlABEZHIKMNOPTYXaeivoptuxcig",
)
_OBJECT = re.compile(r"\{[^{}]{1,4000}\}")
_KEY = re.compile(r"""["'](\w{1,40})["']\s*:""")
_SPACED = re.compile(r"\b(?:[a-z][ .\-_*]){4,}[a-z]\b", re.IGNORECASE)


@lru_cache(maxsize=256)  # several judges look at the same conversation
def find_injections(text: str) -> tuple[str, ...]:
    """Return quotations of suspected injections, in the order of the text."""
    visible = visible_text(text)
    latin = _join_spaced(visible.translate(_LOOKALIKES))
    matches = [
        *_match_phrases(english_patterns(), latin),
        *_match_phrases(other_patterns(), visible),
        *_match_answers(latin),
    ]
    quoted = dict.fromkeys(_shorten(quotation) for _, quotation in sorted(matches))
    return tuple(quoted)[:_MAX_QUOTED]


def _match_phrases(patterns: Iterable[re.Pattern[str]], text: str) -> Iterator[tuple[int, str]]:
    lower = text.lower()
    # A few letters become two in lower case, which would shift the quotation.
    shown = text if len(lower) == len(text) else lower
    for pattern in patterns:
        for match in pattern.finditer(lower):
            yield match.start(), shown[match.start() : match.end()]


def visible_text(text: str) -> str:
    """Return the text as a reader sees it: in compatibility form and without invisible characters."""
    if text.isascii():
        return text
    normalized = unicodedata.normalize("NFKC", text.translate(_TAGS))
    return "".join(
        letter for letter in normalized if letter.isascii() or unicodedata.category(letter) != "Cf"
    )


def _join_spaced(text: str) -> str:
    """Turn `i g n o r e` into a word."""
    return _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match.group()), text)


def _match_answers(text: str) -> Iterator[tuple[int, str]]:
    """Find JSON objects that have only the keys of a judge's answer."""
    for match in _OBJECT.finditer(text.replace('\\"', '"')):
        keys = {key.lower() for key in _KEY.findall(match.group())}
        if keys & DECIDING_KEYS and keys <= ANSWER_KEYS:
            yield match.start(), match.group()


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


ANSWER_KEYS = frozenset(
    [
        "score",
        "verdict",
        "thoughtchain",
        "thought_chain",
        "explanation",
        "reasoning",
        "rationale",
        "reason",
    ]
)
DECIDING_KEYS = frozenset({"score", "verdict"})

_GRADER = (
    r"(?:(?:ai|llm|automated|automatic|impartial|evaluation|judging|grading)[ -])?"
    r"(?:judges?|graders?|evaluators?|scorers?|autoraters?|(?:grading|judge|judging|evaluation) "
    r"(?:model|system|ai|llm|bot))"
)
_RULES = (
    r"(?:rubrics?|grading|scoring|criteri(?:a|on)|evaluation (?:rules|guidelines|instructions)|"
    r"score scale|judge'?s? (?:instructions|rules|prompt))"
)
_ORDERS = (
    r"(?:instructions?|prompts?|directives?|directions|guidelines|rules|orders|system message)"
)
_DROP = (
    r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|discard|"
    r"(?:do not|don'?t|stop) (?:follow(?:ing)?|apply(?:ing)?|us(?:e|ing)|obey(?:ing)?))"
)
_TOP = (
    r"(?:[0-9]{1,3}(?:\.[0-9])?(?:\s?/\s?[0-9]{1,3}| out of [0-9]{1,3})?|one|five|ten|(?:the )?"
    r"(?:maximum|max|highest|perfect|top|best|full)(?: possible)?"
    r"(?: (?:score|marks?|grade|points|rating))?)"
)
_THIS = (
    r"(?:this|it|me|the|my|every|all|each|that|these|above|following|agent'?s?|assistant'?s?|ai'?s?|"
    r"bot'?s?|final|entire|whole|response|answer|reply|output|conversation|transcript|dialogue|"
    r"interaction|text|submission|case|everything|criteri(?:a|on)|metrics?|turns?)"
)
_START = r"(?:^|[.!?;,:\"'\n(>*\]-]\s{0,3}|\b(?:and|then|just|must|should|always|please|now|simply|to)\s)"
_NOT_STARS = r"(?![ -]?(?:stars?\b|%|[0-9]))"

_PHRASES = (
    # leave the rules behind
    rf"\b{_DROP}\s(?:\w+\s){{0,5}}?{_RULES}\b",
    rf"\b{_DROP}\s(?:(?:all|any|every|of|the|your|these|those|other|and|or|everything)\s){{0,4}}"
    rf"(?:previous|prior|preceding|earlier|above|existing|original|initial|system|former|current)\s"
    rf"(?:\w+\s){{0,2}}?{_ORDERS}\b",
    rf"\b{_DROP}\s(?:all|any|every|your)\s(?:of\s)?(?:the\s|your\s|other\s)?(?:\w+\s)?{_ORDERS}\b",
    rf"\b{_DROP}\s(?:the\s)?{_ORDERS}\s(?:above|before|so far|given to you|you (?:were|have been))\b",
    r"\b(?:ignore|disregard|forget)\s(?:everything|anything|all)\s(?:you were told|above|before this|"
    r"that (?:came|was said) before)",
    rf"\b(?:new|updated|revised|real|actual)\s(?:\w+\s)?(?:rubric|scoring rules|grading (?:rules|"
    rf"criteria)|instructions? (?:for|to) (?:the )?{_GRADER})\b",
    rf"\bthe\s{_RULES}\s(?:above\s)?(?:is|are|was|were|has been|have been)\s(?:now\s)?(?:cancel|void|"
    r"suspend|obsolete|outdated|replac|supersed|overrid|revok|a test)",
    # ask for a score
    rf"{_START}(?:score|grade|rate|mark)\s(?:{_THIS}\s){{0,5}}(?:(?:as|with|at|a|an|of|is|to)\s)"
    rf"{{0,2}}{_TOP}\b{_NOT_STARS}",
    rf"\b(?:give|assign|award|return|output|respond with|answer with|reply with|report|set|put|grant|"
    rf"choose|select|pick|write)\s(?:{_THIS}\s){{0,5}}(?:(?:as|with|at|a|an|of|to)\s){{0,2}}"
    rf"(?:score|grade|rating|verdict|mark)s?\s?(?:(?:of|to|as|is|at|=|:|\bbe)\s?){{0,2}}{_TOP}\b"
    rf"{_NOT_STARS}",
    rf"\b(?:give|assign|award|grant)\s(?:{_THIS}\s){{1,5}}(?:(?:a|an|the)\s)?"
    r"(?:[0-9]{1,3}\s?(?:/|out of)\s?[0-9]{1,3}|(?:maximum|max|highest|perfect|top|full)"
    r"(?: possible)? (?:score|marks?|grade|points))",
    rf"\b(?:give|assign|award)\s(?:{_THIS}\s){{1,5}}(?:(?:a|an)\s)?(?:5|10|five|ten)\b(?=\s?(?:[.!,;\n]|"
    r"$|on\b|for (?:every|all|each)|regardless|no matter|points))",
    r"\b(?:response|answer|reply|output|conversation|agent|assistant|it)\s(?:fully\s|clearly\s|easily\s|"
    r"truly\s)?(?:deserves?|merits?|warrants?|(?:must|should|shall|has to) (?:be (?:given|scored|graded|"
    rf"rated|marked|awarded)|get|receive))\s(?:(?:as|with|at|a|an|of|the)\s){{0,2}}(?:score of\s)?{_TOP}\b"
    rf"{_NOT_STARS}",
    r"\b(?:the\s|your\s|correct\s|only\s|right\s|final\s|proper\s){1,4}(?:score|grade|verdict|rating)\s"
    r"(?:here\s|for this(?:\s\w+)?\s|you (?:should|must) give\s)?(?:is|=|must be|should be|has to be)\s"
    r"(?:a\s|always\s|an?\s){0,2}(?:5|10|five|ten|yes|pass|perfect|[0-9]{1,2}\s?(?:/|out of)\s?(?:5|10))\b"
    rf"{_NOT_STARS}",
    r"\b(?:answer|respond|reply|say|output|return|write)\s(?:only\s|just\s|simply\s|with\s){0,2}"
    r"[\"'“]?(?:yes|pass|valid|supported|correct)[\"'”]?\s(?:to|for|on)\s(?:all|every|each|the)\s"
    r"(?:of the\s)?(?:rubrics?|criteri|propert|question|check|item|sentences?)",
    r"\bmark\s(?:this|it|the|all|every|each)\s(?:\w+\s){0,3}?(?:as\s)?(?:fully\s)?(?:passed|correct|valid|"
    r"flawless|supported|compliant)\s?(?:regardless|no matter|without (?:reading|checking)|and stop)",
    # speak to the judge
    rf"\byou(?:'re| are| act)\s(?:now\s|only\s|really\s)?(?:as\s)?(?:the|an?|no longer (?:the|an?))\s"
    rf"(?:\w+\s)?{_GRADER}\b(?! of\b)",
    rf"\bas\s(?:an?|the)\s(?:ai|llm|automated|impartial|language model)[ -]{_GRADER}",
    rf"\b(?:note|message|attention|instructions?|hint|memo|reminder|warning|notice|hello|hi|hey|dear)"
    rf"[\s,:]{{1,2}}(?:to |for )?(?:the |any |an |all |our |whichever ){{0,2}}{_GRADER}\b(?=\s?[:,.!\-—;)\]\n]|\s(?:who|"
    r"that|model|reading|this|please|the))",
    rf"\b(?:if|since|because|when)\s(?:you(?:'re| are)|this is(?: being)? read by)\s(?:an?\s|the\s)?"
    rf"(?:ai|llm|language model|{_GRADER})\b",
    rf"{_START}(?:{_GRADER})\s?:\s?(?:please\s)?(?:ignore|score|give|note|you|the (?:correct|score|answer|"
    r"response)|award|assign|rate|treat|mark|skip)",
    r"\b(?:evaluation|grading|judging|scoring)\s(?:is|has been|was)\s(?:complete|over|finished|done|"
    r"disabled|already)\b",
    r"\b(?:pre-?approved|already (?:been )?(?:graded|scored|evaluated|judged))\b[^.\n]{0,60}\b(?:[0-9]"
    r"(?:\s?/\s?[0-9]{1,2})?|full marks|maximum|perfect)\b",
    # pretend that the material is over
    r"<<<\s?(?:end|/)?\s?\w[\w -]{0,60}>>>",
    r"(?:^|\n)\s{0,8}[-=#*~<\[(]{2,}\s{0,3}(?:end|begin|start)(?:ing)?\s(?:of\s)?(?:the\s)?(?:\w+[ _-]){0,2}?"
    r"(?:material|response|transcript|conversation|data|input|answer|context|rubric|evaluation|"
    r"instructions|untrusted|part|prompt|system|trace)\b",
    r"</(?:response|answer|data|context|conversation|material|transcript|user|user_input|agent|"
    r"agent_response|reference|input|output|document|untrusted|tool_results?|state|goal)>"
    r"(?=[^<]{0,200}\b(?:score|rubric|judge|grade|grader|evaluat|instruction|system))",
    # pretend to be somebody else
    r"<\|(?:im_start|im_end|system|assistant|user|developer|end|eot_id|start_header_id|endoftext|begin_"
    r"of_text|message|channel)\|?>?",
    r"\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>",
    r"</?(?:system|developer|assistant|system_prompt|system-reminder|instructions?)>",
    r"(?:^|\n)\s{0,8}(?:[#*\[(<]{1,4}\s?)?(?:system|developer)(?:\s(?:message|prompt|note|override|"
    r"update))?(?:\s?[\])>*#]{1,4})?\s?:\s{0,3}[^\n]{0,80}\b(?:you are|you must|ignore|disregard|rubric|judge|"
    r"grad(?:e|ing)|scor(?:e|ing)|evaluat|override|from now on|new instructions?|respond only)",
)

_OTHER_PHRASES = (
    # German
    r"\bignorier(?:e|en sie|t)?\s(?:\w+\s){0,3}?(?:anweisung|instruktion|vorgabe|bewertung|kriteri|rubrik)",
    r"\b(?:gib|geben sie|vergib|vergeben sie|bewerte|bewerten sie)\s(?:\w+\s){0,4}?(?:mit\s)?(?:die\s)?"
    r"(?:[0-9]{1,2}(?: von [0-9]{1,2})? punkte|volle|höchste|maximale|höchstnote|bestnote|note [0-9])",
    r"\bdu bist (?:der|ein|jetzt) (?:\w+\s)?(?:richter|gutachter|bewerter|prüfer)\b",
    # French
    r"\bignore[rz]?\s(?:\w+\s){0,2}?(?:les\s|vos\s|tes\s|la\s|cette\s)?(?:instructions?|consignes?|grille|"
    r"règles|rubrique)\b",
    r"\b(?:donne[rz]?|attribue[rz]?|mets|mettez)\s(?:\w+\s|[-']\w+\s){0,4}?(?:la\s|une\s)?(?:note|score)"
    r"\s(?:maximale?|parfaite?|de\s)?\s?(?:[0-9]{1,2}|maximale?)?",
    # Spanish, Portuguese, Italian, Catalan
    r"\bignor[ae]n?\s(?:\w+\s){0,2}?(?:las?\s|os?\s|as\s|les?\s|tus\s|suas\s)?(?:instruc|instruç|instru[cz]|"
    r"istruzion|rúbrica|rubrica|criterios|critérios|criteri\b|regras|reglas|regole)",
    r"\b(?:asigna|otorga|califica|pon|dale?|dê|atribua|assegna|dai)\s(?:\w+\s){0,4}?(?:puntuación|"
    r"puntaje|nota|pontuação|punteggio|voto)\s(?:(?:de|di|máxim[ao]|massim[ao]|perfect[ao])\s?){1,2}(?:[0-9]{1,2})?",
    # Dutch, Polish, Turkish
    r"\bnegeer\s(?:\w+\s){0,3}?(?:instructies|aanwijzingen|criteria|rubriek)",
    r"\bzignoruj\s(?:\w+\s){0,3}?(?:instrukcj|polece|kryteri)",
    r"\b(?:talimat|yönerge|kriter)\w{0,8}\s(?:\w+\s){0,2}?(?:yok say|görmezden gel|dikkate alma)",
    # Russian, Ukrainian
    r"\b(?:про)?игнориру\w{1,4}\s(?:\w+\s){0,3}?(?:инструкци|указани|критери|рубрик|правил)",
    r"\bігнору\w{1,4}\s(?:\w+\s){0,3}?(?:інструкц|вказівк|критер|правил)",
    r"\b(?:поставь|поставьте|дай|дайте|присвой)\w{0,2}\s(?:\w+\s){0,3}?(?:оценку|балл)\w{0,3}\s?[0-9]?",
    # Chinese, Japanese, Korean, Arabic, Hindi
    r"(?:忽略|无视|無視|忘记|忘記)[^。\n]{0,12}(?:指令|指示|说明|說明|提示|评分|評分|标准|標準|规则|規則)",
    r"(?:给|給|打)(?:出|我|它|这个|這個|本)?[^。\n]{0,8}(?:满分|滿分|最高分|[0-9]{1,2}分)",
    r"(?:指示|命令|ルール|基準|採点|プロンプト)[^。\n]{0,8}(?:無視|忘れ)",
    r"(?:指示|満点|最高点|[0-9]{1,2}点)を(?:付け|つけ|与え|出)",
    r"(?:지시|명령|지침|규칙|채점|기준)[^.\n]{0,10}무시",
    r"(?:تجاهل|تجاهلي)\s(?:\w+\s){0,2}?(?:التعليمات|الإرشادات|المعايير|القواعد)",
    r"(?:निर्देशों|नियमों)\s(?:\S+\s){0,2}?(?:अनदेखा|नज़रअंदाज़|नजरअंदाज)",
)  # fmt: skip


@cache
def english_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns for English, which match lower-case text: ignoring case costs half as
    much again. They are compiled on first use, which takes as long as listing all metrics."""
    return tuple(re.compile(phrase) for phrase in _PHRASES)


@cache
def other_patterns() -> tuple[re.Pattern[str], ...]:
    """Return the patterns for other languages."""
    return tuple(re.compile(phrase) for phrase in _OTHER_PHRASES)
