"""The interface of a golden format.

`claims` looks at the document, or at the first row, and never raises: an invalid file of a format
is still a file of that format, and `cases` and `check` report what is invalid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, get_args, runtime_checkable

from carob.datasets.document_types import describe_value
from carob.datasets.lens import Lens
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, Problem

BUILTIN: Mapping[str, str] = {
    "adk": "carob.datasets.formats.adk:AdkFormat",
    "adk-history": "carob.datasets.formats.adk_history:AdkHistoryFormat",
    "agents-cli": "carob.datasets.formats.agents_cli:AgentsCliFormat",
    "azure": "carob.datasets.formats.azure:AzureFormat",
    "braintrust": "carob.datasets.formats.braintrust:BraintrustFormat",
    "csv": "carob.datasets.formats.csv:CsvFormat",
    "deepeval": "carob.datasets.formats.deepeval:DeepEvalFormat",
    "examples": "carob.datasets.formats.examples:ExamplesFormat",
    "explain": "carob.datasets.formats.explain:ExplainFormat",
    "inspect": "carob.datasets.formats.inspect_samples:InspectFormat",
    "langfuse": "carob.datasets.formats.langfuse:LangfuseFormat",
    "langsmith": "carob.datasets.formats.langsmith:LangSmithFormat",
    "llama-index": "carob.datasets.formats.llama_index:LlamaIndexFormat",
    "openai-evals": "carob.datasets.formats.openai_evals:OpenAIEvalsFormat",
    "promptfoo": "carob.datasets.formats.promptfoo:PromptfooFormat",
    "pydantic-evals": "carob.datasets.formats.pydantic_evals:PydanticEvalsFormat",
    "questions": "carob.datasets.formats.questions:QuestionsFormat",
    "ragas": "carob.datasets.formats.ragas:RagasFormat",
    "simulation": "carob.datasets.formats.simulation:SimulationFormat",
    "skill-evals": "carob.datasets.formats.skill_evals:SkillEvalsFormat",
    "test": "carob.datasets.formats.query_list:QueryListFormat",
    "trpc": "carob.datasets.formats.trpc:TrpcFormat",
    "vertex": "carob.datasets.formats.vertex:VertexFormat",
    "rows": "carob.datasets.formats.rows:RowsFormat",
}
"""The built-in formats by name, in the order in which they are asked to claim a file."""


class Format(Protocol):
    """A file format for golden data."""

    name: str
    recognized_by: str
    """How a file of this format is recognized, in words."""
    containers: tuple[Container, ...]
    """The containers of the format, the default first."""
    writable: bool
    derives_ids: bool
    """Whether ids are derived from the content, because cases do not state them."""
    items_keys: tuple[str, ...]
    """The keys under which a document may list its cases; empty if the document is that list."""
    shape: type
    """The declared type of a document, or of a row if the format has no documents."""

    def claims(self, sample: Json) -> bool:
        """Is a file with this document, or this first row, in this format?"""
        ...

    def items(self, document: Json) -> list[Json]:
        """The cases in a document."""
        ...

    def cases(self, container: Container) -> Lens[Case]:
        """How to read and write a case."""
        ...

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        """How to read and write everything but the cases; `stem` is the name of the file."""
        ...

    def check(self, item: Json) -> Iterator[Problem]:
        """Problems of a case beyond its declared type."""
        ...


@runtime_checkable
class FrameChecker(Protocol):
    """A format that checks everything but the cases, too."""

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        """Problems of the document without its cases, or of the file name."""
        ...


@runtime_checkable
class FramedFormat(Protocol):
    """A format whose documents state something for all of their cases."""

    def within(self, frame: Json) -> Format:
        """The same format for the cases of one document; `frame` is the document without them."""
        ...


def format_within(form: Format, frame: Json) -> Format:
    """The format for the cases of a document."""
    return form.within(frame) if isinstance(form, FramedFormat) else form


@runtime_checkable
class NamedFormat(Protocol):
    """A format that reads more files if the user names it than it claims on its own."""

    def accepts(self, sample: Json) -> bool:
        """Can a file with this document, or this first row, be read in this format?"""
        ...


def format_of(key: str) -> str:
    """The name of the format in the key of a lens: `rows` for `rows.table`."""
    name, _, container = key.rpartition(".")
    return name if container in get_args(Container) else key


def list_key(document: Json, keys: tuple[str, ...]) -> str | None:
    """The key under which a document lists its cases."""
    if not isinstance(document, dict):
        return None
    present = [key for key in keys if key in document]
    return next(
        (key for key in present if isinstance(document[key], list)), next(iter(present), None)
    )


def list_items(document: Json, keys: tuple[str, ...]) -> list[Json]:
    """The cases that a document lists under one of the keys."""
    key = list_key(document, keys) or keys[0]
    items = document.get(key) if isinstance(document, dict) else None
    if not isinstance(items, list):
        message = f"expected a list of cases, got {describe_value(items)}"
        raise FormatError(message, where=f"$.{key}")
    return items
