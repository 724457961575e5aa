"""`carob new`: write the template of a plugin."""

from __future__ import annotations

from pathlib import Path

import click

from carob.api.new import KINDS, create_plugin
from carob.cli.options import FILE, command, option
from carob.report.text import printable


@command("carob new metric friendly_tone", "carob new format orders --folder plugins")
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("name")
@option(
    "--folder",
    type=FILE,
    default=Path(),
    help="Folder to write to, by default the working directory.",
)
def new(kind: str, name: str, folder: Path) -> None:
    """Write the template of a plugin.

    A metric is one file, which `carob run -m NAME.py:NAME` runs. The other kinds are a
    package with an entry point: they work after `pip install ./carob_NAME`. Existing
    files are never replaced.
    """
    for path in create_plugin(kind, name, folder):
        click.echo(printable(str(path)))
