"""Guess the language of a text: by its script, else by a vote of function words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+")
_MAX_WORDS = 400  # enough for a vote; contexts can be long

# Kana before Han: Japanese uses both, Chinese only the latter.
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)

_FUNCTION_WORDS = {
    "de": """
        aber als am an auf aus bei bis das dass dem den der des die ein eine einem einen einer es
        für gilt hat haben ich ihre im in ist kann man mit nach nicht noch nur oder sich sie sind
        um und vom von wann war was wer wie wird wir wo zu zum zur über
    """,
    "en": """
        a an and are as at be by can do does for from has have he her his how i if in is it its my
        not of on or our she that the their there they this to until was we were what when where
        which who will with you your
    """,
    "es": """
        a al como con cuando cuándo cuánto de del desde dónde el ella en es está están ha hasta hay
        la las lo los más no o para pero por que qué quién se sin son su sus un una y
    """,
    "fr": """
        a au aux avec ce cette combien comme dans de des du elle en est et il ils je la le les leur
        mais ne nous on ou où par pas pour quand que quel quelle qui sa se ses son sont sur un une
        vous à
    """,
    "it": """
        a al alla alle anche che chi come con da dal dei del della di dove e gli ha i il in la le lo
        ma nel nella non o per più quale quando quanti quanto se si sono su tra un una è
    """,
    "nl": """
        aan als bij dat de der die dit door een en er het hij hoe hoeveel ik in is je kan met naar
        niet of om ook op over te u uit uw van voor waar wanneer wat we wie wordt zijn
    """,
    "pl": """
        a ale by co czy dla do gdzie i ich ile jak jest kiedy kto lub ma na nie o od po przez są się
        to w z za ze że
    """,
    "pt": """
        a ao aos as com como da das de do dos e ela em está foi há mais mas na nas no nos não o os
        ou para pela pelo por qual quando quanto que se sem seu sua são um uma é à
    """,
    "tr": """
        ama bir bu da daha de değil gibi için ile kadar kaç ki mi mu mü mı nasıl ne nerede olan ve
        veya var yok çok
    """,
}
_LANGUAGES_OF = {
    word: tuple(code for code, words in _FUNCTION_WORDS.items() if word in words.split())
    for words in _FUNCTION_WORDS.values()
    for word in words.split()
}


@lru_cache(maxsize=2048)
def guess_language(*texts: str) -> str:
    """Return the code of the language that the texts share; empty if there is no clear winner.

    A word that several languages use counts for each of them, by its share: `a` says little.
    """
    for code, script in _SCRIPTS:
        if any(not text.isascii() and script.search(text) for text in texts):
            return code
    votes: Counter[str] = Counter()
    for text in texts:
        for word in _WORD.findall(text)[:_MAX_WORDS]:
            codes = _LANGUAGES_OF.get(word.lower(), ())
            for code in codes:
                votes[code] += 60 // len(codes)
    ranked = votes.most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return ""
    return ranked[0][0]
