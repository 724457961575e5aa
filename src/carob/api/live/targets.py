"""The live agents that a config names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import msgspec

from carob.api.live_request import LiveRequest
from carob.config import Config
from carob.errors import NotFoundError, UsageError
from carob.schema import TargetSettings
from carob.text.spelling import did_you_mean


def configured_target(config: Config) -> TargetSettings | None:
    """Return the target of a config, which cannot be asked if some of its settings are withheld."""
    return _note_withheld(config, config.target, "target")


def named_target(config: Config, name: str) -> TargetSettings:
    """Return the target of a `[targets.NAME]` table, which cannot be asked if some of its settings
    are withheld. Raises `NotFoundError` if the config has no such table."""
    if name not in config.targets:
        known = ", ".join(config.targets)
        hint = did_you_mean(name, config.targets) or (f"targets: {known}" if known else None)
        raise NotFoundError(f"no target {name!r} in carob.toml", hint=hint)
    settings = config.targets[name]
    return _note_withheld(config, settings, f"targets.{name}") or settings


def without_targets(config: Config) -> Config:
    """Return a config by which no live agent is asked unless a request brings one."""
    withheld = tuple(
        setting
        for setting in config.withheld
        if setting.name.partition(".")[0] not in ("target", "targets")
    )
    return msgspec.structs.replace(config, target=None, targets={}, withheld=withheld)


def choose_target(
    request: LiveRequest | None, config: Config
) -> tuple[LiveRequest | None, TargetSettings | None]:
    """Return the request and the settings that it changes: those of the `[targets.NAME]` table that
    it names, or else those of `[target]`."""
    target: object = request.target if request else None
    flags = {"name": target} if isinstance(target, str) else target
    if request is None or not isinstance(flags, Mapping):
        return request, configured_target(config)
    flags = dict(cast("Mapping[str, object]", flags))
    name = flags.get("name")
    if not isinstance(name, str) or ":" in name or not config.targets:
        return request, configured_target(config)
    try:
        settings = named_target(config, name)
    except NotFoundError as error:
        raise UsageError(error.message, where=config.source, hint=error.hint) from error
    return msgspec.structs.replace(request, target={**flags, "name": None}), settings


def _note_withheld(
    config: Config, settings: TargetSettings | None, key: str
) -> TargetSettings | None:
    names = (setting.name for setting in config.withheld)
    if not any(name == key or name.startswith(f"{key}.") for name in names):
        return settings
    base = settings or TargetSettings()
    return msgspec.structs.replace(base, withheld=config.withheld, source=config.source)
