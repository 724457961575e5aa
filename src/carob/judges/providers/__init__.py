"""The models that judges ask, each behind the wire that its provider speaks."""

from carob.judges.providers.find import open_model

__all__ = ["open_model"]
