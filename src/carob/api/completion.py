"""Names that shells complete: metrics, formats, profiles, runs, datasets and releases."""

from __future__ import annotations

from pathlib import Path

from carob import plugins
from carob.report import forms

_SHOWN_RUNS = 50


def metric_names() -> tuple[str, ...]:
    """Return the installed metrics."""
    return tuple(plugins.metrics())


def format_names() -> tuple[str, ...]:
    """Return the golden formats."""
    return (*plugins.FORMATS, *plugins.find_installed("carob.formats"))


def form_names() -> tuple[str, ...]:
    """Return the forms in which a run can be printed, those of installed plugins included."""
    return forms.form_names()


def profile_names() -> tuple[str, ...]:
    """Return the scoring profiles that come with Carob."""
    from carob.policy.profile import builtin_profiles  # late: the other names do without it

    return tuple(builtin_profiles())


def run_names(store: str | None) -> tuple[str, ...]:
    """Return names of the newest runs in the store."""
    from carob.api.history import list_runs  # late: opening the store takes longer than the rest

    runs = list_runs(limit=_SHOWN_RUNS, store=store).runs
    aliases = ["latest", "latest~1"][: len(runs)]
    aliases += [f"latest:{run.dataset}" for run in runs if run.dataset]
    return tuple(dict.fromkeys([*aliases, *(run.id for run in runs)]))


def dataset_names(store: str | None) -> tuple[str, ...]:
    """Return the datasets of the newest runs in the store."""
    from carob.api.history import list_runs  # late, as above

    names = [run.dataset for run in list_runs(limit=_SHOWN_RUNS, store=store).runs]
    return tuple(dict.fromkeys(name for name in names if name))


def release_names(registry: Path | None) -> tuple[str, ...]:
    """Return the releases, as `name@version`, newest first. The name is that of the folder, which
    needs no quotes in a shell."""
    from carob.api.versions import REGISTRY, release_folder, versions  # late, as above

    root = registry or REGISTRY
    releases = versions(registry=root)
    names = {
        release.name: release_folder(release, registry=root).parent.name for release in releases
    }
    return tuple(f"{names[release.name]}@{release.version}" for release in reversed(releases))
