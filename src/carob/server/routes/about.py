"""About the server itself: health, version, metrics, formats."""

from __future__ import annotations

import msgspec

from carob import __version__
from carob.api import datasets as datasets_api
from carob.api import metrics as metrics_api
from carob.api.serving.sessions import check_writable
from carob.api.serving.upkeep import ServerRule, ServeSettings
from carob.errors import CarobError
from carob.schema import MetricInfo
from carob.schema.base import Struct
from carob.schema.dataset import FormatInfo
from carob.server.binding import Endpoints, Query
from carob.server.problems import RequestError
from carob.server.workspace import Workspace

endpoints = Endpoints()


class Health(Struct, frozen=True, omit_defaults=False):
    """Whether the server works."""

    status: str = "ok"


class Version(Struct, frozen=True, omit_defaults=False):
    """The version of Carob."""

    version: str


class ServerConfig(Struct, frozen=True, omit_defaults=False):
    """How the server is set up. It holds no secrets."""

    addresses: dict[str, str]
    """Of the pages and the receivers."""


class OnlineRules(Struct, frozen=True, omit_defaults=False):
    """What the server does by itself."""

    rules: tuple[ServerRule, ...]
    """The rules of online evaluation, and why one does not work."""
    keep_days: float
    """Sessions without spans for so long are removed …"""
    keep_gb: float
    """… and the oldest beyond this size. Golden and labelled ones are never removed."""


class MetricList(Struct, frozen=True, omit_defaults=False):
    """The metrics that this server can score with."""

    metrics: tuple[MetricInfo, ...]


class FormatList(Struct, frozen=True, omit_defaults=False):
    """The golden formats that this server reads."""

    formats: tuple[FormatInfo, ...]


class FormatPath(Query, frozen=True):
    """A golden format."""

    format: str


@endpoints.get("/api/health", role="none")
def health() -> Health:
    """Say that the server is alive."""
    return Health()


@endpoints.get("/api/ready", role="none")
def ready(workspace: Workspace) -> Health:
    """Say whether runs can be read and traces can be stored; 503 if not."""
    try:
        check_writable(workspace.store)
    except CarobError as error:
        raise RequestError(503, error.message, hint=error.hint) from error
    return Health()


@endpoints.get("/api/version", role="none")
def version() -> Version:
    """Return the version of Carob."""
    return Version(__version__)


@endpoints.get("/api/config", role="none")
def config(workspace: Workspace) -> ServerConfig:
    """Return the addresses of the pages and of the receivers."""
    return ServerConfig(workspace.addresses)


@endpoints.get("/api/online")
def online_rules(workspace: Workspace) -> OnlineRules:
    """Return the rules of online evaluation, and for how long sessions are kept."""
    settings = workspace.upkeep.settings if workspace.upkeep else ServeSettings()
    rules = workspace.upkeep.rules if workspace.upkeep else ()
    return OnlineRules(rules, settings.keep_days, settings.keep_gb)


@endpoints.get("/api/metrics")
def list_metrics() -> MetricList:
    """List the metrics, as `carob metrics` does."""
    return MetricList(metrics_api.metrics())


@endpoints.get("/api/formats")
def list_formats() -> FormatList:
    """List the golden formats."""
    return FormatList(datasets_api.list_formats())


@endpoints.get("/api/formats/{format}")
def format_schema(path: FormatPath) -> msgspec.Raw:
    """Return the JSON Schema of a golden format, as `carob schema` does."""
    return msgspec.Raw(datasets_api.json_schema(path.format).encode())
