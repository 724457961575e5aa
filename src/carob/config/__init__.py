"""Config files: `carob.toml`, and the configs of other tools."""

from carob.config.config import Config, LintSettings, MetricChoice
from carob.config.load import find_config, load_config
from carob.config.quarantine import load_quarantine

__all__ = [
    "Config",
    "LintSettings",
    "MetricChoice",
    "find_config",
    "load_config",
    "load_quarantine",
]
