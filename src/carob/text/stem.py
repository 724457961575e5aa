"""Porter's stemmer (1980) with the extensions that NLTK's default mode adds.

A word is reduced to its shape, one `c` or `v` per letter. Porter's measure m is the number of
`vc` in the shape of the word without its suffix.
"""

from __future__ import annotations

from collections.abc import Callable

_VOWELS = frozenset("aeiou")

_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
} | {
    word: word
    for word in (
        "sky",
        "news",
        "inning",
        "outing",
        "canning",
        "howe",
        "proceed",
        "exceed",
        "succeed",
    )
}

# Within a step the longest suffix decides, so each table is tried from long to short.
_STEP_2 = {
    "ational": "ate",
    "ization": "ize",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "tional": "tion",
    "biliti": "ble",
    "ation": "ate",
    "alism": "al",
    "aliti": "al",
    "iviti": "ive",
    "entli": "ent",
    "ousli": "ous",
    "fulli": "ful",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "ator": "ate",
    "bli": "ble",
    "eli": "e",
}
_STEP_3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ness": "",
    "ful": "",
}
_STEP_4 = (
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ion",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "al",
    "er",
    "ic",
    "ou",
)


def stem(word: str) -> str:
    """Return the stem of a lower-case ASCII word."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in _STEPS:
        word = step(word)
    return word


def _shape(word: str) -> str:
    shape = ""
    for letter in word:
        # A `y` is a vowel exactly after a consonant.
        vowel = letter in _VOWELS or (letter == "y" and shape.endswith("c"))
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Tell whether a word ends in consonant, vowel, consonant other than w, x, y, or is `vc`."""
    shape = _shape(word[-3:] if "y" not in word else word)
    if len(word) == 2:
        return shape == "vc"
    return shape.endswith("cvc") and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        rest = word.removesuffix(suffix)
        if rest != word:
            return _restore_ending(rest) if "v" in _shape(rest) else word
    return word


def _restore_ending(word: str) -> str:
    """Restore the word before -ed or -ing was added: `hopp` → `hop`, `fil` → `file`."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if word[-2:-1] == word[-1] and _shape(word).endswith("c"):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _is_short(word) else word


def _final_y(word: str) -> str:
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1]).endswith("c"):
        return word[:-1] + "i"
    return word


def _double_suffix(word: str) -> str:
    if word.endswith("alli"):
        return _double_suffix(word[:-2]) if _measure(word[:-4]) > 0 else word
    if word.endswith("logi"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_suffix(word, _STEP_2)


def _replace_suffix(word: str, table: dict[str, str]) -> str:
    for suffix, other in table.items():
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + other if _measure(rest) > 0 else word
    return word


def _derivational(word: str) -> str:
    return _replace_suffix(word, _STEP_3)


def _last_suffix(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            allowed = suffix != "ion" or rest.endswith(("s", "t"))
            return rest if allowed and _measure(rest) > 1 else word
    return word


def _final_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    rest = word[:-1]
    measure = _measure(rest)
    return rest if measure > 1 or (measure == 1 and not _is_short(rest)) else word


def _final_ll(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


_STEPS: tuple[Callable[[str], str], ...] = (
    _plural,
    _past,
    _final_y,
    _double_suffix,
    _derivational,
    _last_suffix,
    _final_e,
    _final_ll,
)
