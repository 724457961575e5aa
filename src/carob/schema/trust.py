"""Sensitive settings of files, and the trust of the user in them."""

from __future__ import annotations

import re

from carob.schema.base import Struct

VARIABLE_NAME = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)+")
"""Environment variables of keys. A key that somebody pasted instead of its name has another form,
and is not shown."""


_CODE = re.compile(r"(python|adk|http|chat|responses):[\w./-]+(:[\w.]+)?")
"""A target that names code, a file of this machine or a model."""

_CODE_FILE = re.compile(r"[\w./-]+\.(py|[cm]?js|[cm]?ts|json|sh|go|rb)(:\w+)?")
"""A file with code, and a function in it."""

_STORED = re.compile(r"(s3a?|gs|gcs|az|abfss?)://[\w./*?=-]+", re.ASCII)
"""A file in object storage. Whatever could be a user name, a password or a query is hidden."""

_NUMBER = re.compile(r"[\d.]{1,8}")


class SensitiveSetting(Struct, frozen=True):
    """A setting that names an address, a key, a command or code."""

    name: str
    """The path of the setting in its file, such as `judge.url`."""
    value: str
    effect: str
    """What happens if it takes effect, for the user who decides."""
    file: str | None = None
    """The file that it names, if its content is trusted as well."""

    @property
    def shown(self) -> str:
        """The setting without secrets that somebody wrote into it."""
        return f"{self.name} = {_without_secrets(self.value)}"


class TrustRecord(Struct, frozen=True, omit_defaults=False):
    """A trusted file, and the settings that take effect."""

    file: str
    digest: str
    time: str
    settings: tuple[str, ...]
    """The settings and their effects, without secrets."""


def _without_secrets(value: str) -> str:
    """A name of a variable or a file as it is, a URL without credentials and query."""
    from urllib.parse import urlsplit  # late: no run without a sensitive setting needs it

    shown = (VARIABLE_NAME, _CODE, _CODE_FILE, _NUMBER, _STORED)
    if value.startswith("local:") or any(pattern.fullmatch(value) for pattern in shown):
        return value
    scheme, _, rest = value.partition(":")
    if scheme == "command":  # its arguments may contain a key
        return f"{scheme}:{rest.split()[0] if rest.split() else ''} …"
    if rest.startswith(("http://", "https://")):  # a target
        return f"{scheme}:{_without_secrets(rest)}"
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    # Escaped unless ASCII: a Cyrillic letter in a well-known name looks like a Latin one.
    host = parts.netloc.rpartition("@")[2].encode("ascii", "backslashreplace").decode()
    if parts.scheme not in ("http", "https") or not host:
        return f"({len(value)} characters, hidden because they may be a secret)"
    return f"{parts.scheme}://{host}{parts.path}"
