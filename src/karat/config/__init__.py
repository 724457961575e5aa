"""What a user writes to steer Karat: `karat.toml`, and the configs of other tools."""

from karat.config.choice import MetricChoice
from karat.config.config import Config
from karat.config.lint import LintChoice
from karat.config.load import find_config, load_config
from karat.config.quarantine import load_quarantine

__all__ = [
    "Config",
    "LintChoice",
    "MetricChoice",
    "find_config",
    "load_config",
    "load_quarantine",
]
