"""What a server serves: a store of runs, a folder of golden data, and a configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from carob.api.golden.folder import GoldenFolder, find_file
from carob.api.load import REGISTRY
from carob.api.serving.ingest import Refusals
from carob.api.serving.run_jobs import JobSources, RunJobs
from carob.api.serving.trace_uploads import UPLOADS
from carob.api.serving.upkeep import Upkeep
from carob.api.store import hide_store
from carob.schema.problem import ignore


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What a server serves. Requests name things in it, and never a path."""

    store: str
    """The path or URL of the store."""
    store_arguments: tuple[str, ...] = ()
    """What a copied command needs to find the same store."""
    golden: Path = REGISTRY.parent
    """The folder of golden files that can be listed, edited and released."""
    registry: Path = REGISTRY
    addresses: dict[str, str]
    """Where the pages and the receivers can be reached, by name."""
    uploads: Path = UPLOADS
    """The folder of uploaded traces."""
    jobs: RunJobs = field(default_factory=RunJobs)
    publish: Callable[[str, object], None] = ignore
    """Tells everyone who follows the events what has changed."""
    refused: Callable[[], Refusals] = Refusals
    """What the receivers refused since the start."""
    upkeep: Upkeep | None = None
    """What the server does by itself: its rules and its retention."""

    @property
    def folder(self) -> GoldenFolder:
        """The golden files, and the registry of their releases."""
        return GoldenFolder(self.golden, self.registry)

    @property
    def sources(self) -> JobSources:
        """Where the names in a request for a run are looked up."""
        return JobSources(store=self.store, folder=self.folder, uploads=self.uploads)

    @property
    def registry_arguments(self) -> tuple[str, ...]:
        """What a copied command needs to find the same releases."""
        return () if self.registry == REGISTRY else ("--registry", str(self.registry))

    def hide_store(self, where: str) -> str:
        """Name the store in the place of an error: where it is, is nobody's business."""
        return hide_store(where, self.store)

    def golden_file(self, name: str) -> str:
        """Return the path of the golden file of a dataset, for a copied command."""
        return str(find_file(self.folder, name))
