"""Which settings of a config need the user's trust, and which version of them has it.

A config may come with a repository that somebody else wrote, and is picked up automatically. A
setting that names an address, a key, a command or code is therefore read with `Table.sensitive`,
which withholds it until the user has trusted the file. All other settings need no trust.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import file_digest, sha256
from pathlib import Path

import msgspec

from carob.errors import UntrustedError
from carob.schema import SensitiveSetting

TrustCheck = Callable[[Path, Sequence[SensitiveSetting]], bool]
"""Returns whether the user has trusted these settings of a file."""


class SensitiveReader:
    """Collects the sensitive settings of a file while it is read, and withholds them."""

    def __init__(self, *, withhold: bool = True) -> None:
        self.withhold = withhold
        self.settings: list[SensitiveSetting] = []

    def admit(self, setting: SensitiveSetting) -> str | None:
        self.settings.append(setting)
        return None if self.withhold else setting.value


def trust_digest(settings: Sequence[SensitiveSetting]) -> str:
    """The fingerprint of what is trusted. Other settings of the file may change without it."""
    named = sorted((setting.name, setting.value, *_content(setting)) for setting in settings)
    return "sha256:" + sha256(msgspec.json.encode(named)).hexdigest()


def _content(setting: SensitiveSetting) -> tuple[str, ...]:
    """The digest of the file that a setting names. A pull request could otherwise leave the name
    alone and replace the file."""
    if setting.file is None:
        return ()
    try:
        with Path(setting.file).open("rb") as file:
            return (file_digest(file, "sha256").hexdigest(),)
    except (OSError, ValueError):  # ValueError: the name contains a NUL
        return ("",)  # opening the model reports it


def untrusted_error(source: str, settings: Sequence[SensitiveSetting]) -> UntrustedError:
    """The refusal to use settings of a file."""
    from shlex import quote  # late: only this error needs it

    named = "; ".join(setting.shown for setting in settings)
    return UntrustedError(
        f"settings that need your trust: {named}",
        where=source,
        hint=f"if they are right, run `carob trust {quote(source)}`, or in CI set "
        f"CAROB_TRUST={trust_digest(settings)}",
    )
