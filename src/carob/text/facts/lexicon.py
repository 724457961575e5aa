"""Names of months, units and currencies in many languages, from CLDR by way of `babel`.

All languages share one table, because a name counts only beside a number: `mai` is a month in
`14 mai` and never a word of its own. Without `babel` only currencies are known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, NamedTuple
from unicodedata import normalize

from carob.text.vocabulary import STOP_WORDS, word_list

_LANGUAGES = "en de fr es it pt nl pl tr ja zh ar ru sv da cs ko"

PINT_NAMES = {
    "area-acre": "acre",
    "area-hectare": "hectare",
    "area-square-centimeter": "centimeter**2",
    "area-square-foot": "foot**2",
    "area-square-kilometer": "kilometer**2",
    "area-square-meter": "meter**2",
    "area-square-mile": "mile**2",
    "digital-bit": "bit",
    "digital-byte": "byte",
    "digital-gigabit": "gigabit",
    "digital-gigabyte": "gigabyte",
    "digital-kilobit": "kilobit",
    "digital-kilobyte": "kilobyte",
    "digital-megabit": "megabit",
    "digital-megabyte": "megabyte",
    "digital-petabyte": "petabyte",
    "digital-terabyte": "terabyte",
    "duration-day": "day",
    "duration-hour": "hour",
    "duration-millisecond": "millisecond",
    "duration-minute": "minute",
    "duration-month": "month",
    "duration-second": "second",
    "duration-week": "week",
    "duration-year": "year",
    "electric-ampere": "ampere",
    "electric-milliampere": "milliampere",
    "electric-ohm": "ohm",
    "electric-volt": "volt",
    "energy-calorie": "calorie",
    "energy-joule": "joule",
    "energy-kilocalorie": "kilocalorie",
    "energy-kilojoule": "kilojoule",
    "energy-kilowatt-hour": "kilowatt_hour",
    "frequency-gigahertz": "gigahertz",
    "frequency-hertz": "hertz",
    "frequency-kilohertz": "kilohertz",
    "frequency-megahertz": "megahertz",
    "length-centimeter": "centimeter",
    "length-decimeter": "decimeter",
    "length-foot": "foot",
    "length-inch": "inch",
    "length-kilometer": "kilometer",
    "length-meter": "meter",
    "length-micrometer": "micrometer",
    "length-mile": "mile",
    "length-millimeter": "millimeter",
    "length-nanometer": "nanometer",
    "length-nautical-mile": "nautical_mile",
    "length-yard": "yard",
    "mass-gram": "gram",
    "mass-kilogram": "kilogram",
    "mass-microgram": "microgram",
    "mass-milligram": "milligram",
    "mass-ounce": "ounce",
    "mass-pound": "pound",
    "mass-ton": "short_ton",
    "mass-tonne": "metric_ton",
    "power-gigawatt": "gigawatt",
    "power-horsepower": "horsepower",
    "power-kilowatt": "kilowatt",
    "power-megawatt": "megawatt",
    "power-milliwatt": "milliwatt",
    "power-watt": "watt",
    "pressure-bar": "bar",
    "pressure-hectopascal": "hectopascal",
    "pressure-millibar": "millibar",
    "pressure-pascal": "pascal",
    "pressure-pound-force-per-square-inch": "psi",
    "speed-kilometer-per-hour": "kilometer/hour",
    "speed-knot": "knot",
    "speed-meter-per-second": "meter/second",
    "speed-mile-per-hour": "mile/hour",
    "temperature-celsius": "degC",
    "temperature-fahrenheit": "degF",
    "temperature-generic": "degree",
    "temperature-kelvin": "kelvin",
    "volume-centiliter": "centiliter",
    "volume-cubic-meter": "meter**3",
    "volume-cup": "cup",
    "volume-deciliter": "deciliter",
    "volume-gallon": "gallon",
    "volume-hectoliter": "hectoliter",
    "volume-liter": "liter",
    "volume-milliliter": "milliliter",
    "volume-pint": "pint",
    "volume-quart": "quart",
    "volume-tablespoon": "tablespoon",
    "volume-teaspoon": "teaspoon",
}
"""The units that are compared, by CLDR's name, with the name that `pint` converts by."""

# Most Latin abbreviations of one or two letters are words somewhere: `5 in`, `3 to`, `4 go`.
_SHORT_UNITS = word_list("""
m km cm mm dm g kg mg μg t l ml cl dl hl h s ms ha w kw mw gw v ma j kj hz pa ft yd mi lb oz
hr yr wk gb mb kb tb pb nm hp μm kn
""")
_WORDS = STOP_WORDS | word_list("mil let den fit wat pie pol")
# Spellings that CLDR lacks.
_MORE_UNITS = {
    "kmh": "speed-kilometer-per-hour",
    "kph": "speed-kilometer-per-hour",
    "celsius": "temperature-celsius",
    "fahrenheit": "temperature-fahrenheit",
    "degrees c": "temperature-celsius",
    "degrees f": "temperature-fahrenheit",
    "h": "duration-hour",
    "hrs": "duration-hour",
    "mins": "duration-minute",
    "secs": "duration-second",
    "千米": "length-kilometer",
    "千克": "mass-kilogram",
    **dict.fromkeys(("kilo", "kilos", "quilo", "quilos", "chili"), "mass-kilogram"),
    **dict.fromkeys(("tonelada", "toneladas", "tonnellate", "tonnen", "tonne"), "mass-tonne"),
    "quilómetro": "length-kilometer",
    "quilómetros": "length-kilometer",
}

_DOLLARS = "USD CAD AUD NZD SGD HKD MXN"
_CROWNS = "SEK NOK DKK ISK CZK"
_CURRENCY_NAMES = {
    "EUR": "€ euro euros eur eura евро ευρώ يورو 欧元 ユーロ",
    _DOLLARS: (
        "$ dollar dollars dólar dólares dolar dolary dolarów dollaro dollari доллар доллара"
        " долларов دولار دولارًا دولارات ドル 달러"
    ),
    "USD": "us$ us-dollar usd 美元",
    "GBP": "£ pound pounds sterling pfund livre livres libra libras sterlina sterline pond",
    "CHF": "sfr franken",
    "CHF FRF XAF": "franc francs franco francos franchi frank",
    "JPY": "yen yens 円",
    "JPY CNY": "¥",
    "CNY": "yuan renminbi 元 人民币",
    "INR": "₹ rupee rupees rupie rupien roupie roupies rupia rupias",
    "PLN": "zł zloty zlotys złoty złote złotych złotego",
    "TRY": "₺ tl lira liras lirası",
    "ITL TRY": "lire",
    "RUB": "₽ rouble roubles ruble rubles rubel рубль рубля рублей",
    "BRL": "r$ real reais",
    "MXN ARS CLP COP": "peso pesos",
    "KRW": "₩ won 원",
    _CROWNS: "kr kronor kroner krone krona kronen crowns koruna korun kč",
    "UAH": "₴ hryvnia",
    "ILS": "₪ shekel shekels",
}


class Lexicon(NamedTuple):
    """Names by lower-case spelling. A name can mean several things: `pound`, or `m` for a month."""

    months: dict[str, int]
    units: dict[str, frozenset[str]]
    exact_units: dict[str, frozenset[str]]
    """Units in their exact spelling: `MW` is not `mW`."""
    currencies: dict[str, frozenset[str]]


@lru_cache(maxsize=1)
def has_packages() -> bool:
    """Tell whether the packages of the extra `facts` are installed."""
    return all(find_spec(package) for package in ("babel", "pint", "text_to_num"))


@lru_cache(maxsize=1)
def load_lexicon() -> Lexicon:
    """Load the names of all languages, once per process."""
    currencies: defaultdict[str, set[str]] = defaultdict(set)
    for codes, names in _CURRENCY_NAMES.items():
        for code in codes.split():
            currencies[code.lower()].add(code)
            for name in names.split():
                currencies[name].add(code)
    months: dict[str, int] = {}
    units: defaultdict[str, set[str]] = defaultdict(set)
    exact: defaultdict[str, set[str]] = defaultdict(set)
    if has_packages():
        for locale in _load_locales():
            months |= {name: month for name, month in _months(locale) if name not in months}
            for name, code in _currencies(locale):
                currencies[name].add(code)
            for spelling, unit in _units(locale):
                british = spelling.replace("meter", "metre").replace("liter", "litre")
                units[spelling.lower()].add(unit)
                units[british.lower()].add(unit)
                exact[spelling].add(unit)
        for spelling, unit in _MORE_UNITS.items():
            units[spelling].add(unit)
    return Lexicon(months, _freeze(units), _freeze(exact), _freeze(currencies))


def _freeze(table: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(values) for name, values in table.items()}


def _load_locales() -> Iterator[Any]:
    from babel import Locale  # late: an optional package

    return (Locale.parse(code) for code in _LANGUAGES.split())


def _currencies(locale: Any) -> Iterator[tuple[str, str]]:
    plurals = locale._data["currency_names_plural"]  # noqa: SLF001 - no public list
    for code in " ".join(_CURRENCY_NAMES).split():
        names = [locale.currencies.get(code), *plurals.get(code, {}).values()]
        # A name of one word may stand for others too: `dollar`. Those are listed above.
        yield from ((name.lower(), code) for name in names if name and " " in name)


def _months(locale: Any) -> Iterator[tuple[str, int]]:
    for form in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in locale.months[form][width].items():
                spelled = str(name).lower().rstrip(".")
                # `4月` is read as a Chinese date, and `4` is no name.
                if not any(char.isdigit() for char in spelled):
                    yield spelled, int(number)


def _units(locale: Any) -> Iterator[tuple[str, str]]:
    patterns = locale._data["unit_patterns"]  # noqa: SLF001 - no public list
    for unit in PINT_NAMES:
        for width in ("short", "long"):
            for spelling in _spellings(patterns.get(unit, {}).get(width, {}).items()):
                if len(spelling) <= 3 and spelling.lower() in _WORDS:
                    continue
                short = len(spelling) <= 2 and _is_latin(spelling)
                if not short or (locale.language == "en" and spelling.lower() in _SHORT_UNITS):
                    yield spelling, unit


def _is_latin(spelling: str) -> bool:
    return spelling[0].isalpha() and spelling[0] < "\u0370"


def _spellings(patterns: Iterable[tuple[str, str]]) -> Iterator[str]:
    for form, pattern in patterns:
        if form != "per" and pattern.startswith("{0}"):
            # Texts are normalized as well: `m²` is `m2` there.
            spelling = normalize("NFKC", pattern.removeprefix("{0}")).strip().rstrip(".")
            if spelling and "{" not in spelling:
                yield spelling
