"""Types of arguments and options whose values shells complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeAlias

import click
from click.shell_completion import CompletionItem

from carob import api
from carob.errors import CarobError

_ListNames: TypeAlias = Callable[[click.Context], Iterable[str]]


class Name(click.types.StringParamType):
    """A name that shells complete. `files` can be given instead of it."""

    def __init__(
        self,
        name: str,
        known_names: Callable[[click.Context], Iterable[str]],
        *,
        files: bool = False,
    ) -> None:
        self.name = name
        self._known_names = known_names
        self._files = files

    def get_metavar(self, *_: Any, **__: Any) -> None:
        """Leave it to the argument or option, which has a name of its own."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names: list[str] = []
        start = incomplete.casefold()
        with suppress(CarobError, OSError):  # such as a missing store: nothing to complete
            names = [name for name in self._known_names(ctx) if name.casefold().startswith(start)]
        # Files come first: bash drops the items before them.
        files = [CompletionItem(incomplete, type="file")] if self._files else []
        return [*files, *map(CompletionItem, names)]


METRIC = Name("metric", lambda _: api.completion.metric_names())
NEED = Name("need", lambda _: api.metrics.need_names())
GOLDEN_FORMAT = Name("format", lambda _: api.completion.format_names())
PROFILE = Name("profile", lambda _: api.completion.profile_names(), files=True)
RUN = Name("run", lambda ctx: api.completion.run_names(ctx.params.get("store")), files=True)
DATASET = Name("dataset", lambda ctx: api.completion.dataset_names(ctx.params.get("store")))
RELEASE = Name(
    "release", lambda ctx: api.completion.release_names(ctx.params.get("registry")), files=True
)
RELEASED_DATASET = Name(
    "dataset",
    lambda ctx: dict.fromkeys(
        name.partition("@")[0] for name in api.completion.release_names(ctx.params.get("registry"))
    ),
)
