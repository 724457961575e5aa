"""Trust in config files: which version of their sensitive settings the user has approved.

Each trusted file has a record in the state folder of the user, outside of every repository: a
record that came with a repository would let the repository trust itself.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import msgspec

from carob.config import find_config, load_config
from carob.config.trust import TrustCheck, trust_digest
from carob.errors import InputError, OutputError, UsageError
from carob.files.atomic import write_atomic
from carob.schema import SensitiveSetting, TrustRecord
from carob.schema.base import prepare_type

VARIABLE = "CAROB_TRUST"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


def read_sensitive(config: Path | None = None) -> TrustRecord:
    """Return the sensitive settings of a config, by default of the `carob.toml` in the working
    directory. Nothing is recorded yet."""
    path = config or find_config(Path.cwd())
    if path is None:
        raise InputError("no such file", where="carob.toml", hint="name the config to trust")
    settings = load_config(path).withheld
    return TrustRecord(
        file=str(path.resolve()),
        digest=trust_digest(settings),
        time=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        settings=tuple(f"{setting.shown}  ({setting.effect})" for setting in settings),
    )


def record_trust(record: TrustRecord) -> None:
    """Let the settings of a record take effect from now on."""
    folder, path = state_folder(), Path(record.file)
    if _in_repository(folder, path):
        raise OutputError(
            "the state folder is in the repository that it should protect you from",
            where=str(folder),
            hint=f"set XDG_STATE_HOME to a folder outside of it, or use {VARIABLE}",
        )
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        hint = "set XDG_STATE_HOME to a folder that you can write to"
        raise OutputError(message, where=str(folder), hint=hint) from error
    write_atomic(folder / _record_name(path), msgspec.json.encode(record), mode=0o600)


def trusted_configs() -> list[TrustRecord]:
    """Return the records of all trusted files, sorted by path."""
    try:
        files = sorted(state_folder().glob("*.json"))
    except OSError:
        files = []
    records = (_read_record(file) for file in files)
    return sorted((record for record in records if record), key=lambda record: record.file)


def revoke_trust(config: Path | None = None) -> str:
    """Forget that a file is trusted, and return its path. Raises `UsageError` if it is not."""
    path = (config or Path("carob.toml")).resolve()  # the file itself may be gone
    try:
        (state_folder() / _record_name(path)).unlink()
    except FileNotFoundError as error:
        hint = "list trusted files with `carob trust --list`"
        raise UsageError("not a trusted file", where=str(path), hint=hint) from error
    except OSError as error:
        raise OutputError(f"cannot be removed: {error.strerror}", where=str(path)) from error
    return str(path)


def trust_check(*, trust_all: bool = False) -> TrustCheck:
    """Return the check that decides whether settings of a file take effect."""
    digests = _digests_from_environment()

    def is_trusted(path: Path, settings: Sequence[SensitiveSetting]) -> bool:
        if trust_all or digests is None:
            return True
        digest = trust_digest(settings)
        return digest in digests or _is_recorded(path.resolve(), digest)

    return is_trusted


def state_folder() -> Path:
    """Return the folder with the records of this user."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    else:
        base = os.environ.get("XDG_STATE_HOME", "")
        if not Path(base).is_absolute():  # the specification says to ignore a relative path
            base = Path.home() / ".local" / "state"
    return Path(base) / "carob" / "trust"


def _digests_from_environment() -> frozenset[str] | None:
    """Return the digests in `CAROB_TRUST`, or `None` if it trusts everything."""
    value = os.environ.get(VARIABLE, "").strip()
    if value.lower() in ("", "0", "false"):
        return frozenset()
    if value.lower() in ("1", "true", "all"):
        return None
    digests = re.split(r"[\s,]+", value)
    if not all(map(_DIGEST.fullmatch, digests)):
        raise UsageError(
            f"expected a digest such as 'sha256:…', or 1 to trust any content, got {value!r:.80}",
            where=VARIABLE,
            hint="`carob trust` prints the digest of a config",
        )
    return frozenset(digests)


def _record_name(path: Path) -> str:
    return f"{sha256(os.fsencode(path)).hexdigest()}.json"


def _is_recorded(path: Path, digest: str) -> bool:
    folder = state_folder()
    if _in_repository(folder, path):
        return False
    record = _read_record(folder / _record_name(path))
    return record is not None and (record.file, record.digest) == (str(path), digest)


def _read_record(file: Path) -> TrustRecord | None:
    """Read a record. One that others could have written does not count."""
    try:
        with file.open("rb") as opened:
            status = os.fstat(opened.fileno())
            shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if os.name == "posix" and (status.st_uid != os.geteuid() or shared):
                return None
            return msgspec.json.decode(opened.read(), type=prepare_type(TrustRecord))
    except (OSError, ValueError):
        return None


def _in_repository(folder: Path, config: Path) -> bool:
    """Whether a folder is in the repository of a config, or in its folder."""
    parents = (config.parent, *config.parent.parents)
    root = next((parent for parent in parents if (parent / ".git").exists()), config.parent)
    return folder.resolve().is_relative_to(root)
