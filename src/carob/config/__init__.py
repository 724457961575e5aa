"""What a user writes to steer Carob: `carob.toml`, and the configs of other tools."""

from carob.config.choice import MetricChoice
from carob.config.config import Config
from carob.config.lint import LintChoice
from carob.config.load import find_config, load_config
from carob.config.quarantine import load_quarantine

__all__ = [
    "Config",
    "LintChoice",
    "MetricChoice",
    "find_config",
    "load_config",
    "load_quarantine",
]
