"""Regular expressions written by users, matched in time linear in the text.

Python's `re` backtracks: `(a+){12}b` on a few dozen `a` runs longer than anyone waits, and one
such response would hang a whole run. RE2 never backtracks. In exchange it has no lookaround and
no backreferences, and its `\\b` knows ASCII words only. docs/design/patterns.md has the reasons.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol, cast

from carob.errors import UsageError, install_hint

_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")


class Pattern(Protocol):
    """A compiled regular expression."""

    def search(self, text: str, /) -> object | None:
        """Return a match anywhere in the text."""
        ...

    def fullmatch(self, text: str, /) -> object | None:
        """Return a match of the whole text."""
        ...


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Pattern:
    """Compile a pattern in RE2 syntax. Raises `ValueError` if RE2 does not accept it."""
    require_re2()
    re2: Any = import_module("re2")  # late and untyped: an optional package without type hints
    options = re2.Options()
    options.log_errors = False  # it would write to stderr
    try:
        return cast("Pattern", re2.compile(_with_unicode_classes(pattern), options))
    except re2.error as error:
        raise ValueError(_explain_error(pattern, error)) from None


_UNICODE = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": r"\t-\r \x85\p{Z}"}
_CLASS_OR_ESCAPE = re.compile(r"\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def _with_unicode_classes(pattern: str) -> str:
    """Spell out `\\d`, `\\w` and `\\s`, which are ASCII only in RE2: `\\w+` must match `Müller`."""
    return _CLASS_OR_ESCAPE.sub(_spell_out, pattern)


def _spell_out(match: re.Match[str]) -> str:
    text, name = match[0], match[0][1:]
    if text[0] == "[":
        return _ESCAPE.sub(lambda escape: _UNICODE.get(escape[1], escape[0]), text)
    if name in _UNICODE:
        return f"[{_UNICODE[name]}]"
    negated = _UNICODE.get(name.lower())
    return f"[^{negated}]" if negated else text


def require_re2() -> None:
    """Raise `UsageError` if RE2 is not installed."""
    if find_spec("re2") is None:
        raise UsageError(
            "regular expressions need the package 'google-re2', which is not installed",
            hint=install_hint("metrics"),
        )


def _explain_error(pattern: str, error: Exception) -> str:
    argument: object = error.args[0] if error.args else ""
    message = argument.decode() if isinstance(argument, bytes) else str(argument)
    _, _, operator = message.rpartition(": ")
    if operator in _LOOKAROUND:
        return f"unsupported regular expression {pattern!r}: RE2 has no lookaround ({operator!r})"
    if operator[:1] == "\\" and operator[1:2].isdigit():
        return (
            f"unsupported regular expression {pattern!r}: RE2 has no backreferences ({operator!r})"
        )
    if operator == "\\Z":
        message = f"{message}; use \\z for the end of the text"
    return f"invalid regular expression {pattern!r}: {message}"
