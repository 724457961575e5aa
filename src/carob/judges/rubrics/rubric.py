"""The rubric of a judge."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec

from carob.schema import Rubric as Property
from carob.schema import Struct

RubricKind: TypeAlias = Literal["numbers", "yes/no", "properties", "sentences"]
"""A number; a verdict; a verdict on each of several properties; a label for each sentence."""
Combine: TypeAlias = Literal["majority", "median", "mean"]
JudgedSpan: TypeAlias = Literal["turn", "conversation"]

_encode = msgspec.json.Encoder(order="deterministic").encode


class JudgeRubric(Struct, frozen=True):
    """What a judge is asked, its scale and its inputs.

    The field names are part of the digest, which calibrations refer to.
    """

    name: str
    title: str
    """One sentence about what is measured."""
    question: str
    kind: RubricKind
    inputs: tuple[str, ...]
    """The required inputs."""
    low: float = 0.0
    high: float = 1.0
    levels: dict[str, str] = {}
    """The meaning of each number or verdict."""
    properties: tuple[Property, ...] = ()
    takes: str | None = None
    """The type of the cases' own rubrics that are added to the properties; `None` for no type."""
    optional: tuple[str, ...] = ()
    """The optional inputs."""
    per: JudgedSpan = "turn"
    threshold: float | None = None
    samples: int = 1
    combine: Combine | None = None
    """How samples are combined; `None` for the default of the kind."""
    model: str | None = None
    version: int = 1
    about: str = ""
    """Further documentation."""

    @property
    def whole(self) -> bool:
        """Whether answers are whole numbers. A scale that is less than 2 wide has fractions."""
        return self.high - self.low >= 2 and not self.low % 1 and not self.high % 1

    @property
    def text(self) -> str:
        """The rubric as the judge reads it."""
        levels = [f"- {level}: {meaning.strip()}" for level, meaning in self.levels.items()]
        properties = [
            f"- property_{number}: {' '.join(item.text.split())}"
            for number, item in enumerate(self.properties, 1)
        ]
        blocks = [self.question.strip(), "\n".join(levels), "\n".join(properties)]
        return "\n\n".join(block for block in blocks if block)

    @property
    def digest(self) -> str:
        """The digest of what is asked. Samples, model and threshold are settings of their own and
        do not change it."""
        content = msgspec.structs.replace(
            self, name="", title="", threshold=None, samples=1, model=None, version=1, about=""
        )
        return fingerprint(_encode(content))


def fingerprint(*parts: str | bytes) -> str:
    """Return one digest of several parts. The lengths keep `ab`, `c` and `a`, `bc` apart."""
    encoded = [part.encode("utf-8", "replace") if isinstance(part, str) else part for part in parts]
    lengths = ",".join(str(len(part)) for part in encoded)
    return f"sha256:{sha256(b''.join([lengths.encode(), *encoded])).hexdigest()}"
