"""Open a target by name. Configuration errors are raised here, before anything is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from carob.errors import UsageError
from carob.lazy import load_object
from carob.schema import TargetSettings
from carob.targets.target import Target
from carob.text.spelling import did_you_mean

TARGETS: Mapping[str, str] = {
    "python": "carob.targets.function:open_function",
    "adk": "carob.targets.adk:open_adk",
    "chat": "carob.targets.chat:open_chat",
    "responses": "carob.targets.chat:open_responses",
    "http": "carob.targets.template:open_template",
    "command": "carob.targets.command:open_command",
    "langgraph": "carob.targets.langgraph:open_langgraph",
    "a2a": "carob.targets.a2a:open_a2a",
    "agui": "carob.targets.ag_ui:open_ag_ui",
}
"""The built-in targets by scheme, each with a reference to its factory."""

_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "adk": (),
    "chat": ("system", "tools", "temperature", "max_tokens", "body"),
    "responses": ("system", "tools", "temperature", "max_tokens", "body"),
    "langgraph": ("config", "context"),
    "a2a": (),
    "agui": ("tools", "forwarded_props"),
}
"""The options of targets that know which they have. Others pass them on to the agent."""


class TargetFactory(Protocol):
    """Opens a target. This is what the entry points of `carob.targets` refer to."""

    def __call__(self, settings: TargetSettings, /) -> Target:
        """Return the target that `settings.name` names as `SCHEME:REST`. Raises `UsageError` for
        invalid settings. Must not send anything yet."""
        ...


class BuiltinTargets(Mapping[str, TargetFactory]):
    """The built-in targets by scheme; each is imported when it is looked up."""

    def __getitem__(self, name: str) -> TargetFactory:
        return load_object(TARGETS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(TARGETS)

    def __len__(self) -> int:
        return len(TARGETS)


def open_target(
    settings: TargetSettings, targets: Mapping[str, TargetFactory] | None = None
) -> Target:
    """Open the target that the settings name. Nothing is sent yet. `targets` are all installed
    targets by scheme, the built-in ones by default."""
    factories = BuiltinTargets() if targets is None else targets
    scheme, colon, rest = settings.name.partition(":")
    if not colon or not rest.strip():
        hint = "such as 'python:agent.py:answer' or 'adk:http://127.0.0.1:8000/app'"
        raise UsageError(f"invalid target {settings.name!r}; expected SCHEME:REST", hint=hint)
    factory = factories.get(scheme)
    if factory is None:
        message = f"unknown target {scheme!r}; expected one of: {', '.join(factories)}"
        raise UsageError(message, hint=did_you_mean(scheme, factories))
    known = _OPTIONS.get(scheme, settings.options)
    unknown = next((name for name in settings.options if name not in known), None)
    if unknown:  # without an effect, the runs of a matrix would be the same, and look different
        hint = f"expected one of: {', '.join(known)}" if known else "this target has no options"
        raise UsageError(f"unknown option {unknown!r}", where=settings.name, hint=hint)
    return factory(settings)
