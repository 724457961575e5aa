from __future__ import annotations

from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec

from carob.schema import Rubric as Property
from carob.schema import Struct

Kind: TypeAlias = Literal["numbers", "yes/no", "properties", "sentences"]
"""A number; a verdict; a verdict on each of several properties; a label for each sentence."""
Combine: TypeAlias = Literal["majority", "median", "mean"]
Span: TypeAlias = Literal["turn", "conversation"]

_encode = msgspec.json.Encoder(order="deterministic").encode


class Rubric(Struct, frozen=True):
    """What a judge is asked, on which scale it answers, and what it is shown."""

    name: str
    title: str
    """What is measured, in one sentence."""
    question: str
    kind: Kind
    inputs: tuple[str, ...]
    """What it is shown, and cannot do without."""
    low: float = 0.0
    high: float = 1.0
    levels: dict[str, str] = {}
    """What a number or a verdict means."""
    properties: tuple[Property, ...] = ()
    takes: str | None = None
    """The type of the rubrics of cases that are properties, too; `None` is "of none"."""
    optional: tuple[str, ...] = ()
    """What it is shown where it is there."""
    per: Span = "turn"
    threshold: float | None = None
    samples: int = 1
    combine: Combine | None = None
    """How samples become one value; `None` is the way of the kind."""
    model: str | None = None
    version: int = 1
    about: str = ""
    """What else a user should know of it."""

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are answers. A scale that is less than 2 wide is one of
        shares."""
        return self.high - self.low >= 2 and not self.low % 1 and not self.high % 1

    @property
    def text(self) -> str:
        """The rubric as a judge reads it."""
        levels = [f"- {level}: {meaning.strip()}" for level, meaning in self.levels.items()]
        listed = [
            f"- property_{number}: {' '.join(one.text.split())}"
            for number, one in enumerate(self.properties, 1)
        ]
        blocks = [self.question.strip(), "\n".join(levels), "\n".join(listed)]
        return "\n\n".join(block for block in blocks if block)

    @property
    def digest(self) -> str:
        """The fingerprint of all that is asked. How often, of whom and from where on it is good
        are settings of their own."""
        asked = msgspec.structs.replace(
            self, name="", title="", threshold=None, samples=1, model=None, version=1, about=""
        )
        return fingerprint(_encode(asked))


def fingerprint(*parts: str | bytes) -> str:
    """One digest of several parts, which do not run into each other."""
    told = [part.encode("utf-8", "replace") if isinstance(part, str) else part for part in parts]
    lengths = ",".join(str(len(part)) for part in told)
    return f"sha256:{sha256(b''.join([lengths.encode(), *told])).hexdigest()}"
