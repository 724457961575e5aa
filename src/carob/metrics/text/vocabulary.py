"""Word lists by function. Languages share the lists, because texts do not state their language."""

from __future__ import annotations


def _word_list(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEGATORS = _word_list("""
aucun aucune cannot cant değil geen hardly hayır jamais kein keine keinem keinen keiner mai nao
nee nein neither nem never nicht nie niemals niet no nobody non none nooit nor not nothing
nowhere nunca não né ohne pas sans sem senza sin unable without yok zonder без не нет никогда لا
لم لن ليس ليست न नहीं
""")
"""Words that negate their clause."""

YES = _word_list("""
certainly evet ja oui si sim sure sí yeah yes да نعم हाँ はい 是
""")
"""First words of an affirmative answer."""

NO = _word_list("""
hayır nee nein no non nope não unfortunately нет لا नहीं いいえ 不
""")
"""First words of a negative answer."""

STOP_WORDS = _word_list("""
a about above after again al all als also am an and any ao are as at au auch auf aus aux avec be
been before bei being below between bir both bu but by can cannot ce cette che chi com como con
could cuándo da dans das de del dem den der des di did die do does doing dos down du during e
each een ein eine einem einen einer el elle em en es est et few for from fu further für get gets
gli got ha had has have having he her here hers het heure him his how i if ihr il ile im in into
is ist it its itself ja just la las le les let like lo los may me met might mit more most must
my na naar nach ne neither nel nella never no none nor not o oder of on once one ones only op or
os other ou our ours out over own para per please por pour que quelle qui same se shall she
should sie sim sind so some son sono sont su such sur sure sus são te than that the their theirs
them then there these they this those through to too tra um uma un una unas und under unos until
up us van ve very von voor wann war was we well wer were what when where which while who whom
why wie will wir with without wo would y yes you your yours zu à è é в во где и к как на о по с
у что это إلى على عن في كم من هو هي और कब कम का की के को पर में से है हैं 。 か が し す た で と に の は
へ ま も を 了 几 吗 和 在 是 的
""")
"""Words without content."""

DANGLING = _word_list("""
a an and are as at be because but by for from if in is it its of on or than that the then to was
were which with
""")
"""Words that cannot end an English sentence."""

FUNCTION_WORDS = _word_list("""
a an and are as at be by can do does for from has have i if in is it no not of on or our that
the this to was we were will with yes you your
""")
"""Words of which every longer English sentence has some."""

YES_NO_OPENERS = _word_list("""
am are can could did do does had has have is may might must shall should was were will would
""")
"""First words of an English yes-or-no question."""

AFTER_IMPERATIVE = _word_list("""
a an and any at by for from his her in into it its me my of off on or our out over the their them
this that these those to under up us with within your
""")
"""Words that often follow an imperative and rarely a name."""

OPPOSITES = {
    "closed": "open",
    "decreased": "increased",
    "disabled": "enabled",
    "excluded": "included",
    "excludes": "includes",
    "false": "true",
    "fell": "rose",
    "forbidden": "allowed",
    "impossible": "possible",
    "inactive": "active",
    "incorrect": "correct",
    "invalid": "valid",
    "prohibited": "allowed",
    "rejected": "accepted",
    "unable": "able",
    "unavailable": "available",
    "unsupported": "supported",
    "wrong": "right",
}
"""Words and the words whose opposite they are."""
