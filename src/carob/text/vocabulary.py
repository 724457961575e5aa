"""Word lists by function. Languages share the lists, because texts do not state their language."""

from __future__ import annotations


def word_list(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def _word_pairs(*lines: str) -> tuple[tuple[list[str], list[str]], ...]:
    pairs = [line.split("|") for line in lines]
    return tuple((first.split(), second.split()) for first, second in pairs)


NEGATORS = word_list("""
ausgenommen außer behalve eccetto except excepto exceto excluding salvo sauf tranne
aucun aucune cannot cant değil geen hardly hayır jamais kein keine keinem keinen keiner mai nao
nee nein neither nem never nicht nie niemals niet no nobody non none nooit nor not nothing
nowhere nunca não né ohne pas sans sem senza sin unable without yok zonder без не нет никогда لا
لم لن ليس ليست न नहीं
""")
"""Words that negate their clause."""

YES = word_list("""
certainly evet ja oui si sim sure sí yeah yes да نعم हाँ はい 是
""")
"""First words of an affirmative answer."""

NO = word_list("""
hayır nee nein no non nope não unfortunately нет لا नहीं いいえ 不
""")
"""First words of a negative answer."""

STOP_WORDS = word_list("""
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

DANGLING = word_list("""
a an and are as at be because but by for from if in is it its of on or than that the then to was
were which with
""")
"""Words that cannot end an English sentence."""

FUNCTION_WORDS = word_list("""
a an and are as at be by can do does for from has have i if in is it no not of on or our that
the this to was we were will with yes you your
""")
"""Words of which every longer English sentence has some."""

YES_NO_OPENERS = word_list("""
am are can could did do does had has have is may might must shall should was were will would
""")
"""First words of an English yes-or-no question."""

AFTER_IMPERATIVE = word_list("""
a an and any at by for from his her in into it its me my of off on or our out over the their them
this that these those to under up us with within your
""")
"""Words that often follow an imperative and rarely a name."""

NEGATIVE_FORMS = {
    "ausgeschlossen": "inbegriffen",
    "cerrada": "abierto",
    "cerradas": "abierto",
    "cerrado": "abierto",
    "cerrados": "abierto",
    "chiusa": "aperto",
    "chiuse": "aperto",
    "chiusi": "aperto",
    "chiuso": "aperto",
    "closed": "open",
    "disabled": "enabled",
    "excluded": "included",
    "excludes": "includes",
    "falsa": "verdadero",
    "falsch": "richtig",
    "false": "true",
    "falso": "verdadero",
    "fausse": "vrai",
    "faux": "vrai",
    "fechada": "aberto",
    "fechado": "aberto",
    "fermé": "ouvert",
    "fermée": "ouvert",
    "fermées": "ouvert",
    "fermés": "ouvert",
    "forbidden": "allowed",
    "geschlossen": "geöffnet",
    "gesloten": "open",
    "imposible": "posible",
    "impossible": "possible",
    "inactive": "active",
    "inaktiv": "aktiv",
    "incorrect": "correct",
    "interdit": "autorisé",
    "interdite": "autorisé",
    "interdites": "autorisé",
    "interdits": "autorisé",
    "invalid": "valid",
    "kapalı": "açık",
    "nieczynna": "czynny",
    "nieczynne": "czynny",
    "nieczynny": "czynny",
    "prohibida": "permitido",
    "prohibido": "permitido",
    "prohibited": "allowed",
    "proibida": "permitido",
    "proibido": "permitido",
    "rejected": "accepted",
    "unable": "able",
    "unavailable": "available",
    "ungültig": "gültig",
    "unmöglich": "möglich",
    "unsupported": "supported",
    "untersagt": "erlaubt",
    "verboden": "toegestaan",
    "verboten": "erlaubt",
    "vietata": "permesso",
    "vietato": "permesso",
    "wrong": "right",
    "zamknięta": "otwarty",
    "zamknięte": "otwarty",
    "zamknięty": "otwarty",
    "закрыт": "открыт",
    "закрыта": "открыт",
    "закрыто": "открыт",
    "مغلق": "مفتوح",
    "مغلقة": "مفتوح",
}
"""Words that deny what another word affirms: `closed` is `not open`."""

OPPOSITE_RELATIONS = _word_pairs(
    """
    before prior_to avant vor antes_de antes_del prima_di prima_del prima_della | after
    following nach après después_de después_del dopo depois_de depois_do
    """,
    """
    until till bis hasta jusqu_à jusqu_au fino_a fino_al até tot | from since ab seit desde
    depuis vanaf
    """,
    """
    more at_least minimum over above mehr mindestens über oberhalb plus_de au_moins au_dessus
    más al_menos encima più almeno sopra mais pelo_menos acima meer minstens boven | less fewer
    at_most up_to maximum under below beneath weniger höchstens maximal unter unterhalb moins_de
    au_plus au_maximum au_dessous menos como_máximo debajo meno al_massimo sotto no_máximo
    abaixo minder hoogstens maximaal onder
    """,
)
"""Opposites that refer to the word or number that follows. `_` joins the words of a phrase."""

OPPOSITE_DEGREES = _word_pairs(
    """
    rose rise rises risen rising increase increases increased increasing grew grow grows grown
    gained higher up steigt steigen stieg stiegen gestiegen wächst wuchs zugenommen erhöht
    erhöhte augmente augmenté augmentent augmenter hausse aumenta aumentó aumentan aumentado
    subió sube aumentato aumentano cresce crebbe aumentou subiu stijgt steeg gestegen | fell
    fall falls fallen falling decrease decreases decreased decreasing dropped drop drops
    declined declines shrank lower down sinkt sinken sank sanken gesunken fällt fiel fielen
    gefallen abgenommen gesenkt senkte baisse baissé baissent baisser diminue diminué diminuer
    disminuye disminuyó disminuido bajó baja diminuisce diminuito cala calato diminuiu caiu
    daalt daalde gedaald
    """,
    """
    all every everyone everybody anyone alle allen jeder jede jedes alles tous toutes chaque
    todos todas cada tutti tutte ogni iedereen elke | only solely exclusively some few nur
    ausschließlich lediglich einige wenige seul seule seuls seules seulement uniquement
    certains certaines quelques sólo solo solamente únicamente algunos algunas soltanto alcuni
    alcune somente apenas alguns algumas alleen slechts sommige
    """,
    "earlier sooner früher | later später",
)
"""Opposites that concern their whole clause. The negation of one means the other, more or less."""

OPPOSITE_STATES = _word_pairs(
    """
    first erste ersten erster premier première primero primera primo prima primeiro primeira
    eerste | last final letzte letzten letzter dernier dernière último última ultimo ultima
    laatste
    """,
    """
    inside indoors innerhalb drinnen dedans dentro | outside outdoors außerhalb draußen dehors
    fuera fuori
    """,
    """
    left links linke linken linker gauche izquierda izquierdo sinistra sinistro esquerda
    esquerdo | right rechts rechte rechten rechter droite droit derecha derecho destra destro
    direita direito
    """,
    """
    buy buys bought purchase kaufen kauft gekauft acheter achète comprar compra comprare kopen |
    sell sells sold verkaufen verkauft vendre vend vender vende vendere verkopen
    """,
    """
    import imports imported importiert importieren importe | export exports exported exportiert
    exportieren exporte
    """,
    """
    start starts begin begins beginnt beginnen commence commencent empieza comienza inizia
    começa begint | end ends finish finishes endet enden finit termine terminent termina acaba
    finisce eindigt
    """,
    """
    arrives arrive arrival ankunft arrivée llegada arrivo chegada aankomst | departs depart
    departure leaves abfahrt départ salida partenza partida vertrek
    """,
    "enter entrance eingang entrée entrada ingresso | exit ausgang sortie salida uscita saída",
    "push drücken pousser empujar spingere | pull ziehen tirer tirar tirare",
    "north nord norte noorden norden | south süd sud sur sul zuiden süden",
    "east ost est este osten oosten | west ouest oeste ovest westen",
    "top upper oben obere haut arriba superior | bottom lower unten untere bas abajo inferior",
    """
    hot warm heiß chaud caliente caldo quente heet | cold cool kalt froid frío freddo frio koud
    """,
    "cheaper cheap billiger günstiger | dearer expensive teurer",
    "faster fast quicker schneller | slower slow langsamer",
    """
    largest biggest highest longest größte höchste längste | smallest lowest shortest kleinste
    niedrigste kürzeste
    """,
    """
    twice double doubled doppelt doble doppio dobro dubbel | half halved halb hälfte moitié
    mitad metà metade helft
    """,
    "won win wins gewonnen gewann gagné ganó | lost lose loses verloren verlor perdu perdió",
    "positive positiv positif positivo | negative negativ négatif negativo",
    "add adds added | remove removes removed",
    "send sends sent | receive receives received",
    "lend lends lent | borrow borrows borrowed",
)
"""Opposites that concern their whole clause."""
